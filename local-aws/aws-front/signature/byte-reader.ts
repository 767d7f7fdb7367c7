/** Reads a stream of bytes by lines and lengths, holding no more of it than came in one piece. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The next bytes, at least one and at most `max`; `undefined` at the end. */
  async some(max: number): Promise<Buffer | undefined> {
    if (this.#rest.length === 0 && !(await this.#fill())) return undefined;
    const bytes = this.#rest.subarray(0, max);
    this.#rest = this.#rest.subarray(bytes.length);
    return bytes;
  }

  /** The text up to the next CRLF; `undefined` when the stream ends, or `max` bytes go by, without one. */
  async line(max: number): Promise<string | undefined> {
    for (;;) {
      const end = this.#rest.indexOf('\r\n');
      if (end > max || (end === -1 && this.#rest.length > max + 1)) return undefined;
      if (end !== -1) {
        const line = this.#rest.toString('latin1', 0, end);
        this.#rest = this.#rest.subarray(end + 2);
        return line;
      }
      if (!(await this.#fill())) return undefined;
    }
  }

  async #fill(): Promise<boolean> {
    const { value, done } = await this.#source.next();
    if (done) return false;
    this.#rest =
      this.#rest.length === 0
        ? Buffer.from(value.buffer, value.byteOffset, value.length)
        : Buffer.concat([this.#rest, value]);
    return true;
  }
}
