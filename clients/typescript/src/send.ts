import type { Answer } from './answer.ts';
import { abortedError, FileHostingError } from './error.ts';

export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Blob | AsyncIterable<Uint8Array> | undefined;
  /** The part of the body that may become unreadable; by default all of it. */
  readonly content?: Blob | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Used instead of what the platform has. */
  readonly fetch?: typeof fetch | undefined;
  /** The exchange ends with the error `stalled` when no byte moves for this long. */
  readonly stallSeconds: number;
  /** @param bytes  how many bytes of the body the network has taken so far. */
  readonly onSent?: ((bytes: number) => void) | undefined;
}

/** A body of this length may stay in memory as a whole until it is answered. */
const SHORT_BYTES = 4 * 1024 * 1024;

/** The slowest that the service accepts. */
const SLOWEST_BYTES_PER_SECOND = 16 * 1024;

/**
 * Only these platforms send a stream with the `Content-Length` that it is given. The storage requires that header, so only
 * there the bytes of a Blob are counted while `fetch` sends them. Node 20 has no navigator.
 */
const canCountBytes = () => /^(?:Node|Bun)/.test(globalThis.navigator?.userAgent ?? 'Node');

/** True when `send` can send a body whose length is not known before its end. Browsers cannot, over HTTP/1.1. */
export const canStream = (using: typeof fetch | undefined): boolean => !usesXhr(using);

function usesXhr(using: typeof fetch | undefined): boolean {
  return !using && typeof XMLHttpRequest !== 'undefined';
}

/**
 * Sends one request.
 * @throws FileHostingError `network_error`, `stalled`, `aborted`, `unreadable`.
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
    const isRedirect = /redirect/.test(String((cause as Error).cause ?? cause));
    throw new FileHostingError(isRedirect ? 'invalid_response' : 'network_error', { cause });
  } finally {
    watch.end();
  }
}

/** Aborts an exchange when its caller does, or when no byte moves. */
class Watch {
  readonly #controller = new AbortController();
  readonly #seconds: number;
  readonly #caller: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;
  hasStalled = false;
  /** Why the body could not be read to its end. */
  unreadable: unknown;
  /** What the caller's own report of progress has thrown. */
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

  /** @param more  seconds to add to the time after which an exchange counts as stalled. */
  moved(more = 0): void {
    clearTimeout(this.#timer);
    // The body may be read on after an early answer. A timer for it would keep the process running.
    if (this.#isOver) return;
    const onStalled = () => {
      this.hasStalled = true;
      this.#abort();
    };
    this.#timer = setTimeout(onStalled, (this.#seconds + more) * 1_000);
  }

  /** Bytes are awaited from the caller's stream, which may take its time. */
  rest(): void {
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
  // The progress of a whole Blob is not visible, so it may take as long as the slowest accepted upload of its size.
  if (isWhole) watch.moved(body.size / SLOWEST_BYTES_PER_SECOND);
  const length = body instanceof Blob && !isWhole && { 'Content-Length': String(body.size) };
  const isShort = isWhole || isText || (body instanceof Blob && body.size <= SHORT_BYTES);
  const response = await (exchange.fetch ?? fetch)(url, {
    method,
    headers: { ...headers, ...length },
    body: isWhole || isText ? (body ?? null) : counted(body, watch, onSent),
    signal: watch.signal,
    // A redirected POST would become a GET. Node keeps all of a body for redirects, unless they are errors and it has no window.
    ...(isShort ? { redirect: 'manual' } : { redirect: 'error', window: null }),
    ...(!isText && { duplex: 'half' }),
  } as RequestInit);
  if (isWhole) onSent?.(body.size);
  watch.moved();
  const text = await response.text();
  return { status: response.status, text, header: (name) => response.headers.get(name) };
}

/** The bytes of a body, counted when the network asks for more. */
function counted(body: Blob | AsyncIterable<Uint8Array>, watch: Watch, onSent: Exchange['onSent']): ReadableStream {
  const chunks = piecesOf(body instanceof Blob ? chunksOf(body.stream()) : body);
  let sent = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          if (sent > 0) onSent?.(sent);
        } catch (thrown) {
          watch.callbackError = { thrown };
          throw thrown;
        }
        watch.rest();
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

/** The network is given this many bytes at a time, so that what it has taken is known. */
export const PIECE_BYTES = 64 * 1024;

async function* piecesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES);
  }
}

/** Safari's streams are not iterable. */
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

/** `fetch` cannot tell how much a browser has sent. */
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
    // A stream does not come here (`canStream`).
    xhr.send((body ?? null) as XMLHttpRequestBodyInit | null);
  });
}

/** Browsers report content that was changed, moved or deleted like a broken connection. */
function readingErrorOf(body: Blob): Promise<unknown> {
  return body
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => undefined,
      (error: unknown) => error,
    );
}
