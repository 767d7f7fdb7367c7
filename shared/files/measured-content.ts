import { createHash, type Hash } from 'node:crypto';
import { ApiError } from '../errors.ts';

/** The content of a file that passes through, measured: how long it is, and, if wanted, its SHA-256. */
export class MeasuredContent implements AsyncIterable<Uint8Array> {
  readonly #content: AsyncIterable<Uint8Array>;
  readonly #maxBytes: number;
  readonly #hash: Hash | undefined;
  /** Awaited at each chunk. */
  onChunk: () => Promise<void> = async () => {};
  /** So far. */
  bytes = 0;
  /** True when it ended by an error, of the client or of its connection; the storage is not to blame then. */
  hasFailed = false;

  constructor(content: AsyncIterable<Uint8Array>, options: { maxBytes: number; isHashed: boolean }) {
    this.#content = content;
    this.#maxBytes = options.maxBytes;
    this.#hash = options.isHashed ? createHash('sha256') : undefined;
  }

  /** @throws ApiError `file_too_large` at the first byte beyond the limit, and whatever the content throws. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    try {
      for await (const chunk of this.#content) {
        this.bytes += chunk.length;
        if (this.bytes > this.#maxBytes) throw new ApiError('file_too_large');
        this.#hash?.update(chunk);
        yield chunk;
        await this.onChunk();
      }
    } catch (error) {
      this.hasFailed = true;
      throw error;
    }
  }

  /** SHA-256 of all of it, in hex; undefined when it was not to be hashed. To be called once, at the end. */
  digest(): string | undefined {
    return this.#hash?.digest('hex');
  }
}
