import { createHash } from 'node:crypto';
import { S3Error } from '../s3/s3-error.ts';
import { sha256Hex, signText } from './calculate.ts';
import type { Message } from './message.ts';
import { Problem } from './problem.ts';
import { isSameHex, type SignatureChain } from './verify-signature.ts';

/** Reads a stream of bytes by lines and lengths, holding no more of it than came in one piece. */
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

const LINE_MAX_BYTES = 1024;
/** Source: S3 API, "Signature calculations: transferring payload in multiple chunks". */
const CHUNK_MIN_BYTES = 8192;

interface ChunkedOptions {
  /** Absent: chunks carry no signatures (`STREAMING-UNSIGNED-PAYLOAD-TRAILER`). */
  readonly chain?: SignatureChain;
  /** Whether headers follow the content. */
  readonly hasTrailer: boolean;
  /** Filled with those headers, names in lower case. */
  readonly trailers: Map<string, string>;
}

/**
 * The content of an `aws-chunked` body, piece by piece as it comes: whoever reads it must take nothing for true before the
 * end, because the signature of a chunk follows from all of it.
 * @throws S3Error `IncompleteBody`, `InvalidChunkSizeError`, `MalformedTrailerError`; Problem `signature-mismatch`.
 */
export async function* decodeChunked(
  body: AsyncIterable<Uint8Array>,
  { chain, hasTrailer, trailers }: ChunkedOptions,
): AsyncGenerator<Buffer> {
  const reader = new ByteReader(body);
  let seal = chain && createSeal(chain);
  let hasSmallChunk = false;
  for (;;) {
    const { size, signature } = parseChunkLine(await reader.line(LINE_MAX_BYTES));
    if (size > 0 && hasSmallChunk) throw new S3Error('InvalidChunkSizeError');
    hasSmallChunk = size < CHUNK_MIN_BYTES;
    const hash = createHash('sha256');
    for (let left = size; left > 0; ) {
      const bytes = await reader.some(left);
      if (!bytes) throw new S3Error('IncompleteBody');
      if (seal) hash.update(bytes);
      left -= bytes.length;
      yield bytes;
    }
    seal = seal?.chunk(hash.digest('hex'), signature);
    if (size === 0) break;
    if ((await reader.line(0)) !== '') throw new S3Error('IncompleteBody');
  }
  if (hasTrailer) await readTrailers(reader, trailers, seal);
  else if ((await reader.line(0)) !== '') throw new S3Error('MalformedTrailerError');
}

function parseChunkLine(line: string | undefined): { size: number; signature: string } {
  const [, size, signature = ''] = /^([0-9a-f]{1,10})(?:;chunk-signature=([0-9a-f]{64}))?$/i.exec(line ?? '') ?? [];
  if (size === undefined) throw new S3Error('IncompleteBody');
  return { size: Number.parseInt(size, 16), signature };
}

async function readTrailers(reader: ByteReader, trailers: Map<string, string>, seal: Seal | undefined): Promise<void> {
  let signed = '';
  let signature = '';
  for (;;) {
    const line = await reader.line(LINE_MAX_BYTES);
    if (line === '') break;
    const [, name, value] = /^([\w-]+)\s*:\s*(.*?)\s*$/.exec(line ?? '') ?? [];
    if (name === undefined || value === undefined) throw new S3Error('MalformedTrailerError');
    if (name.toLowerCase() === 'x-amz-trailer-signature') signature = value;
    else {
      trailers.set(name.toLowerCase(), value);
      signed += `${name.toLowerCase()}:${value}\n`;
    }
  }
  seal?.trailer(sha256Hex(signed), signature);
}

/** Checks the signature of each chunk, which continues that of the one before. */
interface Seal {
  chunk(hash: string, signature: string): Seal;
  trailer(hash: string, signature: string): void;
}

function createSeal({ key, timestamp, scope, seed }: SignatureChain): Seal {
  const check = (kind: string, signature: string, ...hashes: string[]) => {
    const expected = signText(key, { algorithm: `AWS4-HMAC-SHA256-${kind}`, timestamp, scope }, seed, ...hashes);
    if (!isSameHex(expected, signature)) throw new Problem('signature-mismatch');
  };
  return {
    chunk(hash, signature) {
      check('PAYLOAD', signature, sha256Hex(''), hash);
      return createSeal({ key, timestamp, scope, seed: signature });
    },
    trailer(hash, signature) {
      check('TRAILER', signature, hash);
    },
  };
}

/** What a signature says of the body: its hash in hex, or one of these words. */
const WORDS = new Set([
  'UNSIGNED-PAYLOAD',
  'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
]);

/** @throws Problem `payload-hash-missing` when the request says nothing, or nothing we know, of its body. */
export function s3PayloadHash({ headers, url }: Message, place: 'header' | 'query'): string {
  const inHeader = headers['x-amz-content-sha256'] as string | undefined;
  const inQuery = new URLSearchParams(url.split(/\?(.*)/s)[1] ?? '').get('X-Amz-Content-Sha256');
  const hash = inHeader ?? (place === 'query' ? (inQuery ?? 'UNSIGNED-PAYLOAD') : '');
  if (!WORDS.has(hash) && !/^[0-9a-f]{64}$/.test(hash)) throw new Problem('payload-hash-missing', hash);
  return hash;
}

interface S3Content {
  /** Without framing; throws at its end when it is not what was signed. */
  readonly content: AsyncIterable<Uint8Array>;
  /** Bytes of content, as announced. */
  readonly contentLength: number | undefined;
  /** Filled when `content` has ended. */
  readonly trailers: Map<string, string>;
}

/** The content of a request whose signature holds. */
export function s3Content({ headers, body }: Message, payloadHash: string, chain?: SignatureChain): S3Content {
  const trailers = new Map<string, string>();
  if (!payloadHash.startsWith('STREAMING-')) {
    const content = payloadHash === 'UNSIGNED-PAYLOAD' ? body : verifyHash(body, payloadHash);
    return { content, contentLength: lengthOf(headers['content-length']), trailers };
  }
  const isSigned = payloadHash.startsWith('STREAMING-AWS4');
  const hasTrailer = payloadHash.endsWith('-TRAILER');
  const content = decodeChunked(body, { hasTrailer, trailers, ...(isSigned && chain && { chain }) });
  return { content, contentLength: lengthOf(headers['x-amz-decoded-content-length'] as string | undefined), trailers };
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
  if (isSameHex(computed, expected)) return;
  const details = { ClientComputedContentSHA256: expected, S3ComputedContentSHA256: computed };
  throw new S3Error('XAmzContentSHA256Mismatch', { details });
}
