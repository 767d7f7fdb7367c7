import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../shared/errors.ts';
import type { ArrivingBody } from '../../shared/http/request.ts';

export interface Pace {
  /** No body may be longer than this, whatever its Content-Length said … */
  readonly maxBytes: number;
  /** … but so much of one that is too long is read and thrown away, so that its client reads why; more is cut. */
  readonly drainMaxBytes: number;
  /** Averaged over the time that the server waits for it, beyond {@link graceMs}, a client must send as many bytes a second. */
  readonly minBytesPerSecond: number;
  /** How long a client may send nothing: slow starts and stalls of a phone network. */
  readonly graceMs: number;
  /** When the whole body must be here, in epoch milliseconds. */
  readonly deadlineAt: number;
}

/**
 * The body of a request, pulled at the reader's pace and held to a size, a rate and a deadline, so that no client can
 * occupy the server by sending slowly or without end. It may be read in two turns: first by the upload, then by
 * {@link drain}.
 */
export class PacedBody implements ArrivingBody {
  readonly #request: IncomingMessage;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #pace: Pace;
  /** How long the server has waited for the client; what it took itself to store the bytes is not the client's fault. */
  #waitedMs = 0;
  #bytes = 0;
  #ended = false;
  /** Since when the server waits for the next bytes; undefined while it does not. */
  #waitingSince: number | undefined;
  /** Ends the present wait for bytes. */
  #giveUp: (failure: ApiError) => void = () => {};
  /** Why nothing more can be read: it came too slowly, broke off, or was cut. */
  #failure: ApiError | undefined;

  constructor(request: IncomingMessage, pace: Pace) {
    this.#request = request;
    this.#pace = pace;
    this.#chunks = request.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
  }

  get bytes(): number {
    return this.#bytes;
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  /** How long the server has waited for the client so far, in milliseconds. */
  get waitedMs(): number {
    return this.#waitedMs + (this.#waitingSince === undefined ? 0 : Date.now() - this.#waitingSince);
  }

  /** Bytes a second, averaged over the time that the server waited for the client; infinite before it has waited. */
  get bytesPerSecond(): number {
    return this.waitedMs === 0 ? Number.POSITIVE_INFINITY : this.#bytes / (this.waitedMs / 1_000);
  }

  /**
   * Ends the connection. The client reads no answer: on this path none gets through before the whole body was read.
   * @param failure  what everybody is told who reads the body from now on, or is reading it.
   */
  cut(failure: ApiError): void {
    this.#failure ??= failure;
    this.#giveUp(failure);
    this.#request.destroy();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    while (!this.#ended) {
      const chunk = await this.#next();
      if (chunk) yield chunk;
    }
  }

  /** As {@link ArrivingBody.drain}. @param bounds  replace those of the pace from now on. */
  async drain(bounds: Partial<Pace> = {}): Promise<boolean> {
    this.#pace = { ...this.#pace, maxBytes: this.#pace.drainMaxBytes, ...bounds };
    try {
      while (!this.#ended) await this.#next();
      return true;
    } catch {
      return false;
    }
  }

  async #next(): Promise<Uint8Array | undefined> {
    if (this.#failure) throw this.#failure;
    const { done, value } = await this.#beforeItIsLate(this.#chunks.next());
    if (done) {
      this.#ended = true;
      return undefined;
    }
    this.#bytes += value.length;
    if (this.#bytes > this.#pace.maxBytes) throw new ApiError('file_too_large');
    return value;
  }

  #fail(failure: ApiError): ApiError {
    this.#failure ??= failure;
    return this.#failure;
  }

  /** @throws ApiError `timeout` when the rate or the deadline is missed; `invalid_request` when the connection breaks. */
  async #beforeItIsLate<Value>(next: Promise<Value>): Promise<Value> {
    const { minBytesPerSecond, graceMs, deadlineAt } = this.#pace;
    const startedAt = Date.now();
    const aheadMs = (this.#bytes / minBytesPerSecond) * 1_000 - this.#waitedMs;
    // Whoever is ahead may pause no longer for it.
    const withinMs = Math.min(deadlineAt - startedAt, graceMs, graceMs + aheadMs);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      this.#giveUp = reject;
      timer = setTimeout(() => reject(new ApiError('timeout', { detail: 'the body came too slowly' })), withinMs);
    });
    this.#waitingSince = startedAt;
    try {
      return await Promise.race([next, late]);
    } catch (error) {
      // A chunk may still arrive for the abandoned `next`; nobody reads it, and the socket is cut.
      next.catch(() => {});
      if (error instanceof ApiError) throw this.#fail(error);
      throw this.#fail(
        new ApiError('invalid_request', { cause: error, detail: `body cut: ${this.#request.url ?? ''}` }),
      );
    } finally {
      this.#waitedMs = this.waitedMs;
      this.#waitingSince = undefined;
      this.#giveUp = () => {};
      clearTimeout(timer);
    }
  }
}
