import { errorOf, jsonOf } from './answer.ts';
import type { Connecting } from './api.ts';
import { FileHostingError, throwIfAborted } from './error.ts';
import { fetchWith } from './fetch-with.ts';
import { type RetryOptions, retry } from './retry.ts';
import type { FileRecord } from './types.ts';
import { Watch } from './watch.ts';

/** Identifies the content of a link, and how many bytes of it were received. */
export interface DownloadPoint {
  readonly bytes: number;
  /** Undefined when the server does not identify the content. Then a download cannot be continued. */
  readonly etag: string | undefined;
}

export interface DownloadOptions extends RetryOptions {
  /** Continues an earlier download behind these bytes. */
  readonly after?: DownloadPoint | undefined;
  /** Called when the first bytes come, with what a later download needs as `after` besides the number of bytes. */
  readonly onStart?: ((start: DownloadPoint) => void) | undefined;
}

interface Connection {
  readonly watch: Watch;
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
}

/** @see FileHosting.download */
export function download(
  using: Connecting,
  { url, size_bytes: size }: Pick<FileRecord, 'url' | 'size_bytes'>,
  { after, onStart, ...options }: DownloadOptions,
): ReadableStream<Uint8Array> {
  let { bytes: at, etag } = after ?? ({ bytes: 0 } as Partial<DownloadPoint> & { bytes: number });
  let connection: Connection | undefined;
  let isKnown = false;

  const connect = async (watch: Watch): Promise<Connection> => {
    const range = size > 0 && { Range: `bytes=${at}-`, ...(at > 0 && { 'If-Range': etag }) };
    // With another encoding, a range would be one of the compressed bytes.
    const headers = { 'Accept-Encoding': 'identity', ...range };
    const response = await fetchWith(using.fetch, url, { headers, signal: watch.signal });
    isKnown = true;
    const { status } = response;
    const header = (name: string) => response.headers.get(name);
    if (status >= 300 && status !== 416 && status !== 412) {
      const answer = { status, text: await response.text(), header };
      if (status === 404) throw errorOf(answer, 'not_found', 'The link leads to no file: it was deleted');
      jsonOf(answer);
    }
    // Known from here on, so that `end` cancels the answer even if it is refused.
    connection = { watch, reader: (response.body as ReadableStream<Uint8Array>).getReader() };
    const [, first = 0, total = header('Content-Length') ?? size] =
      /^bytes (\d+)-\d+\/(\d+)/.exec(header('Content-Range') ?? '') ?? [];
    const found = header('ETag') ?? undefined;
    const isSame = Number(first) === at && Number(total) === size && (at === 0 || found === etag);
    if (status >= 300 || !isSame) throw changed(status);
    if (at === 0) etag = found?.startsWith('"') ? found : undefined;
    onStart?.({ bytes: at, etag });
    onStart = undefined;
    return connection;
  };

  /** @returns the next bytes; undefined at the end. */
  const read = async () => {
    throwIfAborted(options.signal);
    if (at > 0 && at === size) return undefined;
    if (!connection && at > 0 && !etag)
      throw new FileHostingError('network_error', { what: 'The download cannot be continued', isFinal: true });
    const watch = connection?.watch ?? new Watch(using.stallSeconds ?? 60, options.signal);
    try {
      watch.moved();
      connection ??= await connect(watch);
      const { done, value } = await connection.reader.read();
      watch.stopTimer();
      if (done && at < size) throw new Error('the answer is not complete');
      if (value && at + value.byteLength > size) throw changed();
      at += value?.byteLength ?? 0;
      return value;
    } catch (cause) {
      end(watch);
      throw watch.errorOf(cause, isKnown);
    }
  };
  const end = (watch = connection?.watch) => {
    connection?.reader.cancel().catch(() => {});
    connection = undefined;
    watch?.end();
  };
  return new ReadableStream(
    {
      async pull(controller) {
        const chunk = await retry(read, options);
        if (chunk) return controller.enqueue(chunk);
        end();
        controller.close();
      },
      cancel: () => end(),
    },
    { highWaterMark: 0 },
  );
}

const changed = (status?: number) =>
  new FileHostingError('unreadable', {
    status,
    what: 'The link gives another file than before',
    advice: 'Download it again from its beginning.',
  });
