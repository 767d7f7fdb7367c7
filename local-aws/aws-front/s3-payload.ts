import { createHash } from 'node:crypto';
import { S3Error } from '../s3/s3-error.ts';
import type { Message } from './message.ts';
import { Problem } from './problem.ts';

/**
 * Reads the hash of the body with which an S3 request was signed: its SHA-256 in hex, or `UNSIGNED-PAYLOAD`, or
 * `STREAMING-UNSIGNED-PAYLOAD-TRAILER` (`aws-chunked` with a checksum after the content, as SDKs send streams).
 * @throws Problem `payload-hash-missing` when the request has no such hash, or one of an unknown form;
 *   S3Error `NotImplemented` for chunks with signatures of their own, which no client of this server sends.
 */
export function s3PayloadHash({ headers, url }: Message, place: 'header' | 'query'): string {
  const inHeader = headers['x-amz-content-sha256'] as string | undefined;
  const inQuery = new URLSearchParams(url.split(/\?(.*)/s)[1] ?? '').get('X-Amz-Content-Sha256');
  const hash = inHeader ?? (place === 'query' ? (inQuery ?? 'UNSIGNED-PAYLOAD') : '');
  if (hash.startsWith('STREAMING-AWS4-')) {
    throw new S3Error('NotImplemented', { details: { Header: 'x-amz-content-sha256', Value: hash } });
  }
  const isKnown = hash === 'UNSIGNED-PAYLOAD' || hash === CHUNKED || /^[0-9a-f]{64}$/.test(hash);
  if (!isKnown) throw new Problem('payload-hash-missing', hash);
  return hash;
}

const CHUNKED = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';

interface S3Content {
  /** The content without framing. At its end, reading throws when the content is not what was signed. */
  readonly content: AsyncIterable<Uint8Array>;
  /** The length of the content in bytes, as the request announces it. */
  readonly contentLength: number | undefined;
  /** The headers that follow the content, with names in lower case; complete when `content` has ended. */
  readonly trailers: Map<string, string>;
}

/** The content of a request that is not signed, or whose signature was verified. */
export function s3Content({ headers, body }: Message, payloadHash: string): S3Content {
  const trailers = new Map<string, string>();
  if (payloadHash === CHUNKED) {
    const contentLength = lengthOf(headers['x-amz-decoded-content-length'] as string | undefined);
    return { content: decodeChunked(body, trailers), contentLength, trailers };
  }
  const content = payloadHash === 'UNSIGNED-PAYLOAD' ? body : verifyHash(body, payloadHash);
  return { content, contentLength: lengthOf(headers['content-length']), trailers };
}

const lengthOf = (header: string | undefined): number | undefined =>
  /^\d{1,15}$/.test(header ?? '') ? Number(header) : undefined;

async function* verifyHash(body: AsyncIterable<Uint8Array>, expected: string): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const chunk of body) {
    hash.update(chunk);
    yield chunk;
  }
  const computed = hash.digest('hex');
  if (computed === expected) return;
  const details = { ClientComputedContentSHA256: expected, S3ComputedContentSHA256: computed };
  throw new S3Error('XAmzContentSHA256Mismatch', { details });
}

const LINE_MAX_BYTES = 1024;
/** The least size of every chunk but the last. Source: S3 API, "Transferring payload in multiple chunks". */
const CHUNK_MIN_BYTES = 8192;

/**
 * Decodes an `aws-chunked` body piece by piece, as it comes.
 * @param trailers  filled with the headers that follow the content.
 * @throws S3Error `IncompleteBody`, `InvalidChunkSizeError`, `MalformedTrailerError`.
 */
export async function* decodeChunked(
  body: AsyncIterable<Uint8Array>,
  trailers: Map<string, string>,
): AsyncGenerator<Buffer> {
  const reader = new ByteReader(body);
  let hasSmallChunk = false;
  for (;;) {
    const size = parseChunkSize(await reader.line(LINE_MAX_BYTES));
    if (size === 0) break;
    if (hasSmallChunk) throw new S3Error('InvalidChunkSizeError');
    hasSmallChunk = size < CHUNK_MIN_BYTES;
    for (let left = size; left > 0; ) {
      const bytes = await reader.some(left);
      if (!bytes) throw new S3Error('IncompleteBody');
      left -= bytes.length;
      yield bytes;
    }
    if ((await reader.line(0)) !== '') throw new S3Error('IncompleteBody');
  }
  for (let line = await reader.line(LINE_MAX_BYTES); line !== ''; line = await reader.line(LINE_MAX_BYTES)) {
    const [, name, value] = /^([\w-]+)\s*:\s*(.*?)\s*$/.exec(line ?? '') ?? [];
    if (name === undefined || value === undefined) throw new S3Error('MalformedTrailerError');
    trailers.set(name.toLowerCase(), value);
  }
}

function parseChunkSize(line: string | undefined): number {
  if (!/^[0-9a-f]{1,10}$/i.test(line ?? '')) throw new S3Error('IncompleteBody');
  return Number.parseInt(line ?? '', 16);
}

/** Reads a stream of bytes by lines and lengths. It holds at most one received piece and the beginning of a line. */
class ByteReader {
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

  /** The text up to the next CRLF; `undefined` when the stream ends, or `max` bytes pass, without one. */
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
