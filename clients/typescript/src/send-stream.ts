import { checkSize, type StreamContent } from './content.ts';
import { abortedError, FileHostingError } from './error.ts';
import { formAround } from './form.ts';
import { type Job, type UploadedFile, undo, uploadedIn } from './job.ts';
import { retry } from './retry.ts';

const NOT_REPEATED =
  'Nothing was stored. A stream can be read only once: upload it again, or give a path or Blob, which the client can repeat.';
const MAY_BE_STORED =
  'The file may have been stored: look for it in the list before you upload it again. The client can repeat a path or Blob.';

/**
 * Sends a stream in a form, while the stream is read. The form can be sent again only while nothing beyond `start` has been read.
 * @param start  the beginning of the stream, which has been read already.
 * @throws FileHostingError, whose advice says whether the file may have been stored.
 */
export async function sendStream(
  job: Job,
  content: StreamContent,
  start: readonly Uint8Array[],
): Promise<UploadedFile> {
  const { api, signal, size } = job;
  const form = new StreamForm(job, content, start);
  const stop = new AbortController();
  // After the whole form was sent, wait for the answer even if the caller aborts, because the answer has the id of the file to delete.
  const onAbort = () => !form.isSent && stop.abort();
  signal?.addEventListener('abort', onAbort);
  const settings = { ...job, signal: stop.signal, canRepeat: () => !form.isConsumed && job.retries !== 0 };
  const attempt = async () => {
    const report = job.begin(size);
    const onSent = form.progress(report);
    const { headers } = form;
    const request = { ...settings, rate: 'uploads', body: form, headers, onSent } as const;
    const file = await uploadedIn(await api.request('POST', '/files', request), job);
    report(file.size_bytes, true);
    return file;
  };
  try {
    const record = await retry(attempt, settings);
    if (!signal?.aborted) return record;
    await undo(job, async () => record.id);
    throw abortedError(signal);
  } catch (error) {
    throw finalError(error, form, signal);
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

function finalError(error: unknown, { isConsumed, isSent }: StreamForm, signal: AbortSignal | undefined): unknown {
  if (!(error instanceof FileHostingError)) return error;
  const isLost = isConsumed && error.isTemporary;
  const final = signal?.aborted ? abortedError(signal) : error;
  if (isLost && isSent) return Object.assign(final, { advice: MAY_BE_STORED });
  return isLost && final === error ? Object.assign(error, { advice: NOT_REPEATED }) : final;
}

/**
 * The form of a stream. Each iteration gives the head of the form, then `start`, then the rest of the stream, then the tail of the form.
 * `start` has the first bytes of the stream, which are kept in memory. The rest can be read only once.
 */
class StreamForm implements AsyncIterable<Uint8Array> {
  /** True when the stream was read beyond `start`. */
  isConsumed = false;
  /** True when the network was given the whole form. */
  isSent = false;
  readonly headers: Readonly<Record<string, string>>;
  readonly #size: number | undefined;
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #start: readonly Uint8Array[];
  readonly #head: Uint8Array;
  readonly #tail: Uint8Array;
  /** How many bytes of the content the network was given. */
  #bytes = 0;

  constructor({ key, size }: Job, { chunks, ...described }: StreamContent, start: readonly Uint8Array[]) {
    const { head, tail, headers } = formAround(described, key);
    this.headers = headers;
    this.#head = head;
    this.#tail = tail;
    this.#size = size;
    this.#chunks = chunks;
    this.#start = start;
  }

  /** Counts only the bytes of the content. */
  progress(report: (bytes: number) => void): (sent: number) => void {
    return (sent) => report(Math.min(sent - this.#head.byteLength, this.#bytes));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    yield this.#head;
    this.#bytes = 0;
    for (const chunk of this.#start) {
      this.#bytes += chunk.byteLength;
      yield chunk;
    }
    for (;;) {
      this.isConsumed = true;
      const { done, value } = await this.#chunks.next();
      if (done) break;
      this.#bytes += value.byteLength;
      if (this.#bytes > (this.#size ?? this.#bytes)) break;
      yield value;
    }
    checkSize(this.#size, this.#bytes);
    this.isSent = true;
    yield this.#tail;
  }
}
