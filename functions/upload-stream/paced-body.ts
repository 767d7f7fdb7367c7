import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../shared/errors.ts';
import type { ArrivingBody } from '../../shared/http/request.ts';

export interface Pace {
  /** A longer body is refused, even if its Content-Length was smaller. */
  readonly maxBytes: number;
  /**
   * The least rate of a client, in bytes a second. The rate of the client is its bytes, divided by the time that the server has waited for
   * them. The first {@link graceMs} of that time do not count.
   */
  readonly minBytesPerSecond: number;
  /** How long a client may send nothing: phone networks start slowly and stall. */
  readonly graceMs: number;
  /** The time by which the whole body must have arrived, in epoch milliseconds. */
  readonly deadlineAt: number;
}

/** How long a refused body may be, in multiples of the longest that is accepted. A longer body is cut: each byte costs transfer. */
const REFUSED_LENGTHS = 4;
/** The rate of a body is known when the server has waited this long for its bytes. */
const RATE_KNOWN_AFTER_MS = 2_000;

/**
 * The body of a request. It is read no faster than its reader takes it, within bounds of size, rate and time. So no client can occupy the
 * server by sending slowly or without end. The body can be read in two steps: first by the upload, then by {@link drain}.
 */
export class PacedBody implements ArrivingBody {
  readonly #request: IncomingMessage;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #pace: Pace;
  /** How long the server has waited for the client. The time in which the server stored bytes does not count. */
  #waitedMs = 0;
  #bytes = 0;
  #ended = false;
  /** When the current wait for bytes began; undefined while the server does not wait. */
  #waitingSince: number | undefined;
  /** Ends the current wait for bytes with an error. */
  #failWait: (failure: ApiError) => void = () => {};
  /** Why nothing more can be read: the body came too slowly, broke off, or was cut. */
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

  /** Bytes a second, averaged over the time that the server has waited for the client; infinite during the first two seconds of it. */
  get bytesPerSecond(): number {
    const waitedMs = this.#waitedMsSoFar();
    return waitedMs < RATE_KNOWN_AFTER_MS ? Number.POSITIVE_INFINITY : this.#bytes / (waitedMs / 1_000);
  }

  /**
   * Ends the connection. The client gets no answer: Lambda and CloudFront pass no answer on before the whole body was read.
   * @param failure  the error that the body throws to its readers from now on.
   */
  cut(failure: ApiError): void {
    this.#failure ??= failure;
    this.#failWait(failure);
    this.#request.destroy();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    while (!this.#ended) {
      const chunk = await this.#next();
      if (chunk) yield chunk;
    }
  }

  /**
   * Reads the rest and discards it: a client cannot read the answer while it still sends its body.
   * @returns false when the rest has not arrived by the deadline, came too slowly, or is too long: then the client cannot be answered.
   */
  async drain(deadlineAt: number): Promise<boolean> {
    this.#pace = {
      ...this.#pace,
      maxBytes: this.#pace.maxBytes * REFUSED_LENGTHS,
      deadlineAt: Math.min(deadlineAt, this.#pace.deadlineAt),
    };
    try {
      while (!this.#ended) await this.#next();
      return true;
    } catch {
      return false;
    }
  }

  async #next(): Promise<Uint8Array | undefined> {
    if (this.#failure) throw this.#failure;
    const { done, value } = await this.#inTime(this.#chunks.next());
    if (done) {
      this.#ended = true;
      return undefined;
    }
    this.#bytes += value.length;
    if (this.#bytes > this.#pace.maxBytes) {
      throw new ApiError('file_too_large', { facts: { bytes: this.#bytes, limit_bytes: this.#pace.maxBytes } });
    }
    return value;
  }

  #waitedMsSoFar(): number {
    return this.#waitedMs + (this.#waitingSince === undefined ? 0 : Date.now() - this.#waitingSince);
  }

  #fail(failure: ApiError): ApiError {
    this.#failure ??= failure;
    return this.#failure;
  }

  /**
   * Waits for bytes.
   * @throws ApiError `timeout` when the client is too slow; `invalid_request` when the connection breaks; the failure that was given
   *   to {@link cut}.
   */
  async #inTime<Value>(next: Promise<Value>): Promise<Value> {
    const { minBytesPerSecond, graceMs, deadlineAt } = this.#pace;
    const startedAt = Date.now();
    const aheadMs = (this.#bytes / minBytesPerSecond) * 1_000 - this.#waitedMs;
    // Even a client that has sent faster than required may pause for `graceMs` at most.
    const withinMs = Math.min(deadlineAt - startedAt, graceMs, graceMs + aheadMs);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      this.#failWait = reject;
      timer = setTimeout(() => reject(new ApiError('timeout', { detail: 'the body came too slowly' })), withinMs);
    });
    this.#waitingSince = startedAt;
    try {
      return await Promise.race([next, late]);
    } catch (error) {
      // Nobody awaits `next` any more. If it rejects later, that must not count as unhandled. A chunk that it still brings is not read.
      next.catch(() => {});
      if (error instanceof ApiError) throw this.#fail(error);
      throw this.#fail(
        new ApiError('invalid_request', { cause: error, detail: 'the connection broke before the end of the body' }),
      );
    } finally {
      this.#waitedMs = this.#waitedMsSoFar();
      this.#waitingSince = undefined;
      this.#failWait = () => {};
      clearTimeout(timer);
    }
  }
}
