import { createHash, type Hash } from 'node:crypto';
import { ApiError } from '../errors.ts';

/** Passes on the content of a file, and measures its length and, if `isHashed`, its SHA-256. */
export class MeasuredContent implements AsyncIterable<Uint8Array> {
  readonly #content: AsyncIterable<Uint8Array>;
  readonly #maxBytes: number;
  readonly #hash: Hash | undefined;
  /** Bytes passed on so far. */
  bytes = 0;
  constructor(content: AsyncIterable<Uint8Array>, options: { maxBytes: number; isHashed: boolean }) {
    this.#content = content;
    this.#maxBytes = options.maxBytes;
    this.#hash = options.isHashed ? createHash('sha256') : undefined;
  }

  /** @throws ApiError `file_too_large` at the first byte beyond the limit, and every error of the content. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of this.#content) {
      this.bytes += chunk.length;
      if (this.bytes > this.#maxBytes) {
        throw new ApiError('file_too_large', { facts: { bytes: this.bytes, limit_bytes: this.#maxBytes } });
      }
      this.#hash?.update(chunk);
      yield chunk;
    }
  }

  /** SHA-256 of all content, in hex; undefined unless `isHashed`. Call it once, at the end. */
  digest(): string | undefined {
    return this.#hash?.digest('hex');
  }
}
