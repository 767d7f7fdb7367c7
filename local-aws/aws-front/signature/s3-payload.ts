import { createHash } from 'node:crypto';
import { S3Error } from '../../s3/s3-error.ts';
import type { Message } from '../message.ts';
import { Problem } from '../problem.ts';
import { decodeChunked } from './chunked-content.ts';
import { isSameHex, type SignatureChain } from './verify-signature.ts';

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

export interface S3Content {
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
