import { MULTIPART_FRAMING_MAX_BYTES } from '../contract/limits.ts';
import { ApiError } from '../errors.ts';
import { findDelimiter, type ScanResult } from './find-delimiter.ts';
import { headerParameters } from './header-parameters.ts';

/** The error for a body that breaks RFC 7578 or the service's limits. @param detail  for the log and the client. */
export function invalidForm(detail: string, cause?: unknown): ApiError {
  return new ApiError('invalid_request', { detail, cause });
}

/** RFC 2046, section 5.1.1: 1 to 70 of these characters; the last one is not a space. */
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

/**
 * The boundary in a form's `Content-Type`, quoted or not. Clients forget the quotes that characters such as `/` or `=` need,
 * so every legal boundary is accepted without them.
 * @throws ApiError `unsupported_media_type` when the header is absent or names another type; `invalid_request` when it has no
 *   boundary or an illegal one.
 */
export function formBoundary(contentType: string | undefined): string {
  if (!/^[ \t]*multipart\/form-data[ \t]*(?:;|$)/i.test(contentType ?? '')) {
    throw new ApiError('unsupported_media_type', { detail: 'the body is not multipart/form-data' });
  }
  const boundary = headerParameters(contentType ?? '').get('boundary') ?? '';
  if (!BOUNDARY.test(boundary)) {
    throw invalidForm('the Content-Type has no legal boundary');
  }
  return boundary;
}

/**
 * The longest header block of a part, with the line break before it. Legitimate ones are under 2 KiB (a name of 255 bytes,
 * percent-encoded twice).
 */
export const PART_HEADERS_MAX_BYTES = 16 * 1024;

const CRLF = Buffer.from('\r\n');
const HEADERS_END = Buffer.from('\r\n\r\n');

/**
 * Cuts a form into delimiters, header blocks and content (RFC 2046, section 5.1.1). It reads one chunk of the source at a time. Content is
 * returned as views of the source's chunks. A chunk is copied only if the chunk before it ends within a header block, or with bytes that
 * may begin a delimiter.
 *
 * The order of calls follows the body: `skipContent` (the preamble), then for each part `nextPart`, `readHeaders` and the
 * content, then `skipEpilogue`. Each call throws ApiError `invalid_request` when the body is not a form.
 */
export class FormReader {
  /**
   * The error by which the source ended too early; undefined when there was none. Every later call that needs more bytes throws this error
   * again.
   */
  failure: ApiError | undefined;
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #marker: Buffer;
  /** The unread bytes begin with a CRLF of our own, because a form may begin with a delimiter that has no line break before it. */
  #unread: Buffer = CRLF;
  #framingBytes = -CRLF.length;
  #isAtEnd = false;

  constructor(source: AsyncIterable<Uint8Array>, boundary: string) {
    this.#source = source[Symbol.asyncIterator]();
    this.#marker = Buffer.from(`\r\n--${boundary}`, 'latin1');
  }

  /** How many bytes the form may still hold besides its file. */
  get framingLeft(): number {
    return MULTIPART_FRAMING_MAX_BYTES - this.#framingBytes;
  }

  /** Counts content that was read and does not belong to the file. */
  countFraming(bytes: number): void {
    this.#framingBytes += bytes;
    if (this.framingLeft < 0) throw invalidForm('the form holds too much besides the file');
  }

  /** True when content comes next, false when a delimiter does. Consumes nothing. */
  async hasContent(): Promise<boolean> {
    return (await this.#look()).contentBytes > 0;
  }

  /** The next piece of the content, never empty; undefined when a delimiter comes next. Not counted as framing. */
  async readContent(): Promise<Buffer | undefined> {
    const { contentBytes } = await this.#look();
    return contentBytes > 0 ? this.#take(contentBytes) : undefined;
  }

  /** Skips content that does not belong to the file, and counts it as framing. */
  async skipContent(): Promise<void> {
    for (let scan = await this.#look(); scan.contentBytes > 0; scan = await this.#look()) {
      this.#takeFraming(scan.contentBytes);
    }
  }

  /** Consumes the delimiter that comes next. @returns false when it was the last one. */
  async nextPart(): Promise<boolean> {
    const { delimiter } = await this.#look();
    if (!delimiter) throw new Error('a part was not read to its end');
    this.#takeFraming(delimiter.bytes);
    return !delimiter.isLast;
  }

  /** Reads the header block of the part, without the line break before it and the empty line after it. */
  async readHeaders(): Promise<Buffer> {
    let end = this.#unread.indexOf(HEADERS_END);
    while (end < 0 && this.#unread.length < PART_HEADERS_MAX_BYTES + HEADERS_END.length) {
      await this.#fill();
      end = this.#unread.indexOf(HEADERS_END);
    }
    if (end < 0 || end > PART_HEADERS_MAX_BYTES) throw invalidForm('the headers of a part are too long, or do not end');
    const headers = this.#takeFraming(end + CRLF.length).subarray(CRLF.length, -CRLF.length);
    // A part without content may leave out its empty line: then this CRLF belongs to the next delimiter.
    if (await this.hasContent()) this.#takeFraming(CRLF.length);
    return headers;
  }

  /** Reads what comes after the last delimiter, to the end of the source. */
  async skipEpilogue(): Promise<void> {
    while (!this.#isAtEnd) {
      this.#takeFraming(this.#unread.length);
      await this.#fill();
    }
  }

  /** Reads until the front of the unread bytes is known to be content, or a whole delimiter. */
  async #look(): Promise<ScanResult> {
    for (;;) {
      const scan = findDelimiter(this.#unread, this.#marker, this.#isAtEnd);
      if (scan.contentBytes > 0 || scan.delimiter) return scan;
      await this.#fill();
    }
  }

  async #fill(): Promise<void> {
    if (this.failure) throw this.failure;
    if (this.#isAtEnd) throw this.#fail(invalidForm('the body ends before its last delimiter'));
    const { done, value } = await this.#pull();
    if (done) this.#isAtEnd = true;
    else this.#unread = this.#unread.length === 0 ? asBuffer(value) : Buffer.concat([this.#unread, value]);
  }

  async #pull(): Promise<IteratorResult<Uint8Array>> {
    try {
      return await this.#source.next();
    } catch (cause) {
      // The server's own errors (too large, too slow) pass; any other error means that the connection broke.
      throw this.#fail(cause instanceof ApiError ? cause : invalidForm('the body broke off', cause));
    }
  }

  #fail(failure: ApiError): ApiError {
    this.failure = failure;
    return failure;
  }

  #takeFraming(bytes: number): Buffer {
    this.countFraming(bytes);
    return this.#take(bytes);
  }

  #take(bytes: number): Buffer {
    const taken = this.#unread.subarray(0, bytes);
    this.#unread = this.#unread.subarray(bytes);
    return taken;
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
