import { type Answer, jsonOf, recordIn, storageErrorOf } from './answer.ts';
import type { Api } from './api.ts';
import {
  type Content,
  type Description,
  invalid,
  openSource,
  type StreamContent,
  type UploadSource,
} from './content.ts';
import { abortedError, FileHostingError, withMore } from './error.ts';
import { formAround } from './form.ts';
import { type RetryOptions, retry, unlessAborted } from './retry.ts';
import { canStream, PIECE_BYTES } from './send.ts';
import type { FileRecord, UploadTicket } from './types.ts';

/** Of one attempt. When an upload is repeated, `attempt` grows and `sentBytes` begins at 0 again; otherwise it only grows. */
export interface Progress {
  /** Bytes of the content that the network has taken. */
  readonly sentBytes: number;
  /** Undefined for a stream whose `size` was not given. */
  readonly totalBytes: number | undefined;
  /** From 1. */
  readonly attempt: number;
}

export interface UploadOptions extends Description, RetryOptions {
  /** The length of a stream in bytes, if it is known. A stream of another length is not stored. */
  readonly size?: number | undefined;
  /** Uploads of the same content with the same key (1–255 ASCII characters) within 24 hours make one file. */
  readonly idempotencyKey?: string | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** Larger content goes directly to the storage. A form of 4 MiB passes the gateway; this leaves room for all but the file. */
export const FORM_FILE_MAX_BYTES = 4 * 1024 * 1024 - 4_096;

/** How long an upload that is given up may take to remove what it has left. */
const UNDO_MS = 10_000;

/** One upload on its way. */
interface Job extends UploadOptions {
  readonly api: Api;
  readonly key: string;
  /** Of each of its requests. */
  readonly call: RetryOptions;
  /** Reports the progress of one attempt. */
  readonly begin: (total: number | undefined) => (sentBytes: number) => void;
}

/**
 * Uploads content as one file: in a form when it is small or a long stream, directly to the storage otherwise.
 * @throws FileHostingError
 */
export async function upload(api: Api, source: UploadSource, options: UploadOptions): Promise<FileRecord> {
  const { idempotencyKey, signal, size, onProgress } = options;
  if (idempotencyKey !== undefined && !/^[ -~]{1,255}$/.test(idempotencyKey)) {
    throw invalid('`idempotencyKey` must be 1 to 255 ASCII characters');
  }
  if (signal?.aborted) throw abortedError(signal);
  let attempt = 0;
  const begin = (totalBytes: number | undefined) => {
    attempt++;
    let latest = -1;
    return (bytes: number) => {
      const sentBytes = Math.min(Math.max(bytes, 0), totalBytes ?? bytes);
      if (sentBytes <= latest) return;
      latest = sentBytes;
      onProgress?.({ sentBytes, totalBytes, attempt });
    };
  };
  const call = { signal, retries: options.retries, onWait: options.onWait };
  const job = { ...options, api, key: idempotencyKey ?? randomKey(), call, begin };
  const content = await openSource(source, options);
  if ('blob' in content) return uploadBlob(job, content);
  try {
    const { start, isOver } = await unlessAborted(
      readStart(content, canStream(api.fetch) ? FORM_FILE_MAX_BYTES : Infinity),
      signal,
    );
    if (!isOver) return await sendStream(job, content, start);
    const blob = new Blob(start as BlobPart[]);
    if (size !== undefined && blob.size !== size) throw wrongSize(size, blob.size);
    return await uploadBlob(job, { ...content, blob });
  } finally {
    content.chunks.return?.().catch(() => {});
  }
}

const uploadBlob = (job: Job, content: Content) =>
  content.blob.size > FORM_FILE_MAX_BYTES ? sendDirectly(job, content) : sendForm(job, content);

/** Sends content in a form, which may be repeated: the service knows it by its key. */
async function sendForm(job: Job, { blob, ...described }: Content): Promise<FileRecord> {
  const { api, signal, call } = job;
  const { head, tail, contentType } = formAround(described);
  const body = new Blob([head, blob, tail]);
  const headers = { 'Content-Type': contentType, 'Idempotency-Key': job.key };
  let mayBeStored = false;
  const attempt = async (until = signal) => {
    const report = job.begin(blob.size);
    const onSent = (bytes: number) => {
      mayBeStored ||= bytes + PIECE_BYTES >= body.size;
      report(bytes - head.byteLength);
    };
    const record = recordIn(
      await api.request('POST', '/files', { ...call, rate: 'uploads', body, headers, signal: until, onSent }),
    );
    report(blob.size);
    return record;
  };
  try {
    return await retry(() => attempt(), job);
  } catch (error) {
    // Nobody has seen the answer. The same form again has the same answer, which says what to delete.
    if (signal?.aborted && mayBeStored) await undo(job, async () => (await attempt(AbortSignal.timeout(UNDO_MS))).id);
    throw error;
  }
}

/**
 * Gets a ticket, sends the bytes to the storage, and completes the upload. The storage takes the bytes of a ticket once, so
 * that each step may be repeated.
 */
async function sendDirectly(job: Job, content: Content): Promise<FileRecord> {
  const { api, signal, call } = job;
  let id: string | undefined;
  let mayHaveTicket = false;
  const askOnce = async (until = signal) => {
    mayHaveTicket = true;
    const json = { name: content.name, mime_type: content.type, size_bytes: content.blob.size };
    const headers = { 'Idempotency-Key': job.key };
    return ticketIn(await api.request('POST', '/files', { ...call, rate: 'uploads', json, headers, signal: until }));
  };
  const ask = async () => {
    const given = await retry(() => askOnce(), job);
    id = given.id;
    return given;
  };
  try {
    const given = await putWithTicket(job, content, ask);
    if ('url' in given) return given;
    return await retry(async () => recordIn(await api.request('POST', `/files/${given.id}/complete`, call)), job);
  } catch (error) {
    // With a key of the caller's, the same call goes on where this one has ended.
    const isOver = signal?.aborted || job.idempotencyKey === undefined;
    if (isOver && mayHaveTicket) await undo(job, async () => id ?? (await askOnce(AbortSignal.timeout(UNDO_MS))).id);
    throw isOver || !(error instanceof FileHostingError) ? error : withMore(error, { uploadId: id });
  }
}

/** @returns the ticket whose bytes are stored, or the file if an earlier attempt with the same key has made it. */
async function putWithTicket(
  job: Job,
  { blob }: Content,
  ask: () => Promise<UploadTicket | FileRecord>,
): Promise<UploadTicket | FileRecord> {
  let given = await ask();
  const put = async () => {
    if ('url' in given) return;
    const { method, url, headers } = given.upload;
    const report = job.begin(blob.size);
    const answer = await job.api.send({ method, url, headers, body: blob, signal: job.signal, onSent: report });
    // 412: an earlier attempt has stored them.
    if (answer.status >= 300 && answer.status !== 412) throw storageErrorOf(answer);
    report(blob.size);
  };
  await retry(async () => {
    try {
      await put();
    } catch (error) {
      if (!(error instanceof FileHostingError && error.code === 'forbidden')) throw error;
      // The URL has expired; the ticket gets another one.
      given = await ask();
      await put();
    }
  }, job);
  return given;
}

function ticketIn(answer: Answer): UploadTicket | FileRecord {
  if (answer.status === 201) return recordIn(answer);
  const body = jsonOf(answer) as unknown as UploadTicket;
  if (typeof body.id === 'string' && typeof body.upload?.url === 'string') return body;
  throw new FileHostingError('invalid_response', { status: answer.status });
}

/**
 * Sends a stream in a form while it is read. It can be sent again only as long as nothing was read but its start.
 * @param start  what was read of it already.
 */
async function sendStream(
  job: Job,
  { chunks, ...described }: StreamContent,
  start: readonly Uint8Array[],
): Promise<FileRecord> {
  const { api, signal, size, call } = job;
  const { head, tail, contentType } = formAround(described);
  let isConsumed = false;
  let isSent = false;
  let bytes = 0;
  async function* body() {
    yield head;
    bytes = 0;
    for (const chunk of start) {
      bytes += chunk.byteLength;
      yield chunk;
    }
    for (;;) {
      isConsumed = true;
      const { done, value } = await chunks.next();
      if (done) break;
      bytes += value.byteLength;
      if (bytes > (size ?? bytes)) break;
      yield value;
    }
    if (size !== undefined && bytes !== size) throw wrongSize(size, bytes);
    isSent = true;
    yield tail;
  }
  // Once all of it is sent, only the answer says what to delete.
  const stop = new AbortController();
  const onAbort = () => !isSent && stop.abort();
  signal?.addEventListener('abort', onAbort);
  const headers = { 'Content-Type': contentType, 'Idempotency-Key': job.key };
  try {
    const record = await retry(
      async () => {
        const report = job.begin(size);
        const onSent = (sent: number) => report(Math.min(sent - head.byteLength, bytes));
        return recordIn(
          await api.request('POST', '/files', {
            ...call,
            rate: 'uploads',
            body: body(),
            headers,
            signal: stop.signal,
            onSent,
          }),
        );
      },
      { ...job, signal: stop.signal, canRepeat: () => !isConsumed && job.retries !== 0 },
    );
    if (!signal?.aborted) return record;
    await undo(job, async () => record.id);
    throw abortedError(signal);
  } catch (error) {
    const aborted = signal?.aborted && abortedError(signal);
    if (aborted)
      throw isSent && error instanceof FileHostingError && error.code !== 'aborted'
        ? withMore(aborted, { advice: MAY_BE_STORED })
        : aborted;
    if (!(isConsumed && error instanceof FileHostingError && error.isTemporary)) throw error;
    throw withMore(error, { advice: isSent ? MAY_BE_STORED : NOT_REPEATED });
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

const NOT_REPEATED =
  'Nothing was stored. A stream can be read only once: upload it anew, or give a path or Blob, which is repeated by itself.';
const MAY_BE_STORED =
  'The file may have been stored: look for it in the list before you upload it again. A path or Blob is repeated by itself.';

/** Reads a stream until it ends or has more than `limit` bytes. */
async function readStart({ chunks }: StreamContent, limit: number): Promise<{ start: Uint8Array[]; isOver: boolean }> {
  const start: Uint8Array[] = [];
  for (let bytes = 0; bytes <= limit; ) {
    const { done, value } = await chunks.next().catch((cause: unknown) => {
      throw cause instanceof FileHostingError ? cause : new FileHostingError('unreadable', { cause });
    });
    if (done) return { start, isOver: true };
    // A copy, because some streams use their buffer again.
    start.push(value.slice());
    bytes += value.byteLength;
  }
  return { start, isOver: false };
}

/** Deletes what an upload may have left. If that fails, a ticket ends by itself. */
async function undo({ api }: Job, findId: () => Promise<string>): Promise<void> {
  try {
    const id = await findId();
    await api.call('DELETE', `/files/${id}`, { signal: AbortSignal.timeout(UNDO_MS), doneStatus: 404 });
  } catch {
    // The caller gets the error for which the upload was given up.
  }
}

function wrongSize(expected: number, actual: number): FileHostingError {
  return new FileHostingError('unreadable', { what: `The stream has not ${expected} but ${actual} bytes` });
}

function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
