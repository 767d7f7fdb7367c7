import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../shared/errors.ts';

export interface Pace {
  /** No body may be longer than this, whatever its Content-Length said. */
  readonly maxBytes: number;
  /** Averaged over {@link GRACE_MS} and more, a client must send at least this many bytes a second. */
  readonly minBytesPerSecond: number;
  /** When the whole body must be here, in epoch milliseconds. */
  readonly deadlineAt: number;
}

/** How long a client may send nothing: slow starts and stalls of a phone network. */
const GRACE_MS = 20_000;

/**
 * The body of a request, pulled at the reader's pace and held to a size, a rate and a deadline, so that no client can
 * occupy the server by sending slowly or without end. It may be read in two turns: first by the upload, then by
 * {@link drain}.
 */
export class PacedBody implements AsyncIterable<Uint8Array> {
  readonly #request: IncomingMessage;
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #pace: Pace;
  readonly #startedAt = Date.now();
  #bytes = 0;
  #ended = false;

  constructor(request: IncomingMessage, pace: Pace) {
    this.#request = request;
    this.#pace = pace;
    this.#chunks = request.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
  }

  /** True when every byte has been read. */
  get ended(): boolean {
    return this.#ended;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    while (!this.#ended) {
      const chunk = await this.#next();
      if (chunk) yield chunk;
    }
  }

  /**
   * Reads what is left and throws it away, within the same bounds: a client whose body is still on its way cannot read the
   * answer. @returns false when the body broke a bound or the connection broke; then the socket is to be cut.
   */
  async drain(): Promise<boolean> {
    try {
      while (!this.#ended) await this.#next();
      return true;
    } catch {
      return false;
    }
  }

  async #next(): Promise<Uint8Array | undefined> {
    const { done, value } = await this.#beforeItIsLate(this.#chunks.next());
    if (done) {
      this.#ended = true;
      return undefined;
    }
    this.#bytes += value.length;
    if (this.#bytes > this.#pace.maxBytes) throw new ApiError('file_too_large');
    return value;
  }

  /** @throws ApiError `timeout` when the rate or the deadline is missed; `invalid_request` when the connection breaks. */
  async #beforeItIsLate<Value>(next: Promise<Value>): Promise<Value> {
    const owedMs = (this.#bytes / this.#pace.minBytesPerSecond) * 1_000;
    const dueAt = Math.min(this.#pace.deadlineAt, this.#startedAt + owedMs + GRACE_MS);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () => reject(new ApiError('timeout', { detail: 'the body came too slowly' })),
        dueAt - Date.now(),
      );
    });
    try {
      return await Promise.race([next, late]);
    } catch (error) {
      // A chunk may still arrive for the abandoned `next`; nobody reads it, and the socket is cut.
      next.catch(() => {});
      if (error instanceof ApiError) throw error;
      throw new ApiError('invalid_request', { cause: error, detail: `body cut: ${this.#request.url ?? ''}` });
    } finally {
      clearTimeout(timer);
    }
  }
}
