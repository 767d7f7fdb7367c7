import type { Answer } from './answer.ts';
import { canCountBytes, counted } from './body-stream.ts';
import { FileHostingError, throwIfAborted } from './error.ts';
import { type Fetch, fetchWith } from './fetch-with.ts';
import { Watch } from './watch.ts';

export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Blob | AsyncIterable<Uint8Array> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Used instead of the platform's `fetch` or `XMLHttpRequest`. */
  readonly fetch?: Fetch | undefined;
  /** The exchange ends with the error `stalled` when no byte moves for this long. */
  readonly stallSeconds?: number | undefined;
  /** True when the service has answered before. */
  readonly isKnown?: boolean | undefined;
  /** @param bytes  how many bytes of the body the network has taken so far. */
  readonly onSent?: ((bytes: number) => void) | undefined;
}

/** A body up to this length may stay in memory until its request is answered. */
const SHORT_BYTES = 4 * 1024 * 1024;

/** The lowest average rate that the service accepts for an upload. */
const SLOWEST_BYTES_PER_SECOND = 16 * 1024;

function usesXhr(using: Fetch | undefined): boolean {
  return !using && typeof XMLHttpRequest !== 'undefined';
}

/**
 * Sends one request.
 * @throws FileHostingError `network_error`, `stalled`, `aborted`, `unreadable`, or `invalid_response` for a redirect that was not
 *   followed; and whatever `onSent` has thrown.
 */
export async function send(exchange: Exchange): Promise<Answer> {
  const { signal, body } = exchange;
  throwIfAborted(signal);
  exchange.onSent?.(0);
  // The caller may abort the upload there.
  throwIfAborted(signal);
  const watch = new Watch(exchange.stallSeconds ?? 60, signal);
  watch.moved();
  try {
    return await (usesXhr(exchange.fetch) ? sendByXhr(exchange, watch) : sendByFetch(exchange, watch));
  } catch (cause) {
    const isStopped = signal?.aborted || watch.hasStalled;
    if (watch.callbackError && !signal?.aborted) throw watch.callbackError.thrown;
    const unreadable = !isStopped && (watch.unreadable ?? (body instanceof Blob && (await readingErrorOf(body))));
    if (unreadable instanceof FileHostingError) throw unreadable;
    if (unreadable) throw new FileHostingError('unreadable', { cause: unreadable });
    throw watch.errorOf(cause, exchange.isKnown);
  } finally {
    watch.end();
  }
}

async function sendByFetch(
  { method, url, headers, body, onSent, ...exchange }: Exchange,
  watch: Watch,
): Promise<Answer> {
  const isWhole = body instanceof Blob && !canCountBytes();
  const isText = typeof body === 'string' || body === undefined;
  // The progress of a whole Blob is not visible. So sending the Blob may take as long as the slowest upload of this size that the service
  // accepts.
  if (isWhole) watch.moved(body.size / SLOWEST_BYTES_PER_SECOND);
  const length = body instanceof Blob && !isWhole && { 'Content-Length': String(body.size) };
  const isShort = isWhole || isText || (body instanceof Blob && body.size <= SHORT_BYTES);
  const response = await fetchWith(exchange.fetch, url, {
    method,
    headers: { ...headers, ...length },
    body: isWhole || isText ? (body ?? null) : counted(body, watch, onSent),
    signal: watch.signal,
    // A redirect would change a POST to a GET, so none is followed. Node keeps the whole body in memory for a possible redirect,
    // unless `redirect` is 'error' and `window` is null.
    ...(isShort ? { redirect: 'manual' } : { redirect: 'error', window: null }),
    ...(!isText && { duplex: 'half' }),
  });
  if (isWhole) onSent?.(body.size);
  watch.moved();
  const text = await response.text();
  return { status: response.status, text, header: (name) => response.headers.get(name) };
}

/** Sends by XMLHttpRequest, because `fetch` in a browser does not report how much it has sent. */
function sendByXhr({ method, url, headers, body, onSent }: Exchange, watch: Watch): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    watch.signal.addEventListener('abort', () => xhr.abort());
    xhr.upload.onprogress = ({ loaded }) => {
      watch.moved();
      onSent?.(loaded);
    };
    xhr.onprogress = () => watch.moved();
    xhr.onload = () => {
      // `getResponseHeader` would log an error for each header that CORS hides.
      const lines = xhr.getAllResponseHeaders().split('\r\n').filter(Boolean);
      const known = new Headers(lines.map((line) => line.split(/:(.*)/s).slice(0, 2) as [string, string]));
      resolve({ status: xhr.status, text: xhr.responseText, header: (name) => known.get(name) });
    };
    xhr.onerror = reject;
    xhr.onabort = reject;
    xhr.open(method, url);
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
    // The body is never a stream here: see `canSendStreams`.
    xhr.send((body ?? null) as XMLHttpRequestBodyInit | null);
  });
}

/** The error of reading a Blob, if any. Browsers report a file that was changed or deleted as a failed connection. */
function readingErrorOf(body: Blob): Promise<unknown> {
  return body
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => undefined,
      (error: unknown) => error,
    );
}
