import { createHash } from 'node:crypto';
import { S3Error } from '../../s3/s3-error.ts';
import { Problem } from '../problem.ts';
import { ByteReader } from './byte-reader.ts';
import { sha256Hex, signText } from './calculate.ts';
import { isSameHex, type SignatureChain } from './verify-signature.ts';

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
