import type { Answer } from './answer.ts';
import { abortedError, FileHostingError } from './error.ts';
import { dispatcherFor } from './proxy.ts';

export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Blob | AsyncIterable<Uint8Array> | undefined;
  /** The Blob inside the body that may become unreadable, for example when its file changes; by default the whole body. */
  readonly content?: Blob | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Used instead of the platform's `fetch` or `XMLHttpRequest`. */
  readonly fetch?: typeof fetch | undefined;
  /** The exchange ends with the error `stalled` when no byte moves for this long. */
  readonly stallSeconds: number;
  /** True when the service has answered before. */
  readonly isKnown?: boolean | undefined;
  /** @param bytes  how many bytes of the body the network has taken so far. */
  readonly onSent?: ((bytes: number) => void) | undefined;
}

/** A body up to this length may stay in memory until its request is answered. */
const SHORT_BYTES = 4 * 1024 * 1024;

/** The lowest average rate that the service accepts for an upload. */
const SLOWEST_BYTES_PER_SECOND = 16 * 1024;

/**
 * True on Node and Bun. Only on these two, `fetch` sends a stream with the `Content-Length` that we set and that the storage requires. So
 * only these two count the bytes of a Blob while they send it. Node 20 has no navigator.
 */
const canCountBytes = () => /^(?:Node|Bun)/.test(globalThis.navigator?.userAgent ?? 'Node');

/** True when `send` can send a body whose length is not known before its end. Browsers cannot send such a body over HTTP/1.1. */
export const canStream = (using: typeof fetch | undefined): boolean => !usesXhr(using);

function usesXhr(using: typeof fetch | undefined): boolean {
  return !using && typeof XMLHttpRequest !== 'undefined';
}

/**
 * Sends one request.
 * @throws FileHostingError `network_error`, `stalled`, `aborted`, `unreadable`, or `invalid_response` for a redirect that was not
 *   followed; and whatever `onSent` has thrown.
 */
export async function send(exchange: Exchange): Promise<Answer> {
  const { signal, body, content = body } = exchange;
  if (signal?.aborted) throw abortedError(signal);
  exchange.onSent?.(0);
  const watch = new Watch(exchange.stallSeconds, signal);
  watch.moved();
  try {
    return await (usesXhr(exchange.fetch) ? sendByXhr(exchange, watch) : sendByFetch(exchange, watch));
  } catch (cause) {
    if (signal?.aborted) throw abortedError(signal);
    if (watch.callbackError) throw watch.callbackError.thrown;
    if (watch.hasStalled) throw new FileHostingError('stalled', { cause });
    const unreadable = watch.unreadable ?? (content instanceof Blob && (await readingErrorOf(content)));
    if (unreadable instanceof FileHostingError) throw unreadable;
    if (unreadable) throw new FileHostingError('unreadable', { cause: unreadable });
    throw connectionError(cause as Error, exchange.isKnown);
  } finally {
    watch.end();
  }
}

/** The errors that come again whenever the request is repeated: of TLS, of a host or port that does not exist, and of a proxy that refuses. */
const LASTING = /CERT|UNABLE_TO_|^ERR_TLS|^ERR_SSL(?!.*MAC$)|EPROTO|ENOTFOUND|PROXY_REFUSED|^bad port/;

/** @param isKnown  true when the host has answered before, so its name is not wrong. */
export function connectionError(cause: Error & { readonly code?: string }, isKnown = false): FileHostingError {
  if (cause instanceof FileHostingError) return cause;
  const reason = (cause.cause ?? cause) as Error & { readonly code?: string };
  // Node reports a redirect in the cause of the error, Deno in the error itself, Bun in its code.
  if (/redirect/i.test(`${cause.code} ${reason}`)) return new FileHostingError('invalid_response', { cause });
  const { code, message } = reason;
  const isOfHost = code === 'ENOTFOUND';
  return new FileHostingError('network_error', {
    cause,
    what: reason === cause && !code ? undefined : `The connection failed: ${message || code}`,
    isFinal: LASTING.test(code ?? message) && !(isOfHost && isKnown),
  });
}

/** Aborts an exchange when its caller aborts it, or when no byte moves for too long. */
class Watch {
  readonly #controller = new AbortController();
  readonly #seconds: number;
  readonly #caller: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;
  hasStalled = false;
  /** Why the body could not be read to its end. */
  unreadable: unknown;
  /** What the caller's `onSent` has thrown. */
  callbackError: { readonly thrown: unknown } | undefined;

  constructor(seconds: number, caller: AbortSignal | undefined) {
    this.#seconds = seconds;
    this.#caller = caller;
    caller?.addEventListener('abort', this.#abort, { once: true });
  }

  readonly #abort = () => this.#controller.abort();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts the timer again. @param more  seconds to add to the time after which an exchange counts as stalled. */
  moved(more = 0): void {
    clearTimeout(this.#timer);
    // After an early answer the body may still be read. A timer would then keep the process running.
    if (this.#isOver) return;
    const onStalled = () => {
      this.hasStalled = true;
      this.#abort();
    };
    this.#timer = setTimeout(onStalled, (this.#seconds + more) * 1_000);
  }

  /** Stops the timer while we wait for the caller's stream, which may be slow. */
  stopTimer(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#abort);
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
  const dispatcher = exchange.fetch ? undefined : await dispatcherFor(url);
  const response = await (exchange.fetch ?? fetch)(url, {
    method,
    headers: { ...headers, ...length },
    body: isWhole || isText ? (body ?? null) : counted(body, watch, onSent),
    signal: watch.signal,
    // A redirect would change a POST to a GET, so none is followed. Node keeps the whole body in memory for a possible redirect,
    // unless `redirect` is 'error' and `window` is null.
    ...(isShort ? { redirect: 'manual' } : { redirect: 'error', window: null }),
    ...(!isText && { duplex: 'half' }),
    ...(dispatcher && { dispatcher }),
  } as RequestInit);
  if (isWhole) onSent?.(body.size);
  watch.moved();
  const text = await response.text();
  return { status: response.status, text, header: (name) => response.headers.get(name) };
}

/** A stream of the body. Whenever the network asks for more bytes, the stream reports how many bytes the network has taken. */
function counted(body: Blob | AsyncIterable<Uint8Array>, watch: Watch, onSent: Exchange['onSent']): ReadableStream {
  const chunks = piecesOf(body instanceof Blob ? chunksOf(body.stream()) : body);
  let sent = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // Node would read the body of an aborted request to its end.
        if (watch.signal.aborted) {
          chunks.return(undefined).catch(() => {});
          return controller.error(watch.signal.reason);
        }
        try {
          if (sent > 0) onSent?.(sent);
        } catch (thrown) {
          watch.callbackError = { thrown };
          throw thrown;
        }
        watch.stopTimer();
        try {
          const { done, value } = await chunks.next();
          if (done && body instanceof Blob && sent !== body.size)
            throw new Error(`it has ${sent} of ${body.size} bytes`);
          watch.moved();
          if (done) return controller.close();
          sent += value.byteLength;
          controller.enqueue(value);
        } catch (error) {
          watch.unreadable = error;
          throw error;
        }
      },
      cancel: () => void chunks.return(undefined),
    },
    { highWaterMark: 0 },
  );
}

/** The network gets this many bytes at a time, so the progress is accurate to this many bytes. */
export const PIECE_BYTES = 64 * 1024;

async function* piecesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES);
  }
}

/** The chunks of a stream; needed because Safari's streams are not iterable. */
export async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
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
    // The body is never a stream here: see `canStream`.
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
