import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { crc32 } from 'node:zlib';
import { S3Error } from './s3-error.ts';

/** A hash of content: MD5 makes the ETag, the others are S3's `x-amz-checksum-*`. */
export type Algorithm = 'MD5' | ChecksumAlgorithm;

/** S3 also knows SHA1, CRC32C and CRC64NVME. The service uses none of them, so the local S3 answers `NotImplemented`. */
const CHECKSUM_ALGORITHMS = ['CRC32', 'SHA256'] as const;
export type ChecksumAlgorithm = (typeof CHECKSUM_ALGORITHMS)[number];

export interface Checksum {
  readonly algorithm: ChecksumAlgorithm;
  /** The checksum in base64. If it was made from the checksums of parts, their number follows after a hyphen. */
  readonly value: string;
}

export const typeOf = ({ value }: Checksum) => (value.includes('-') ? 'COMPOSITE' : 'FULL_OBJECT');

/** The checksum of a whole whose parts have these checksums. */
export function compositeOf(algorithm: ChecksumAlgorithm, parts: readonly string[]): Checksum {
  const digest = digestOf(algorithm, ...parts.map((value) => Buffer.from(value, 'base64')));
  return { algorithm, value: `${digest.toString('base64')}-${parts.length}` };
}

/** The algorithm with which an upload in parts begins. @throws S3Error `NotImplemented` for one that is not known here. */
export function uploadAlgorithm(headers: IncomingHttpHeaders): ChecksumAlgorithm | undefined {
  const named = headers['x-amz-checksum-algorithm'];
  const algorithm = CHECKSUM_ALGORITHMS.find((known) => known === named);
  if (named === undefined || algorithm) return algorithm;
  throw new S3Error('NotImplemented', { details: { Header: 'x-amz-checksum-algorithm', Value: String(named) } });
}

/**
 * Refuses a part that announces another checksum than its upload, or none. An upload without an algorithm takes every part.
 * @throws S3Error `InvalidRequest`.
 * Source: LocalStack, answers of AWS recorded for `TestS3MultipartUploadChecksum` (composite and default); for a part without a checksum,
 * versity/versitygw #1342.
 */
export function checkPartAlgorithm(headers: IncomingHttpHeaders, expected: ChecksumAlgorithm | undefined): void {
  const actual = announcedAlgorithm(headers);
  if (expected === undefined || actual === expected) return;
  const types = [expected, actual ?? 'null'].map((type) => type.toLowerCase());
  throw new S3Error('InvalidRequest', {
    message: `Checksum Type mismatch occurred, expected checksum Type: ${types[0]}, actual checksum Type: ${types[1]}`,
  });
}

const CHECKSUM_BYTES: Record<ChecksumAlgorithm, number> = { CRC32: 4, SHA256: 32 };

interface Digest {
  update(chunk: Uint8Array): void;
  digest(): Buffer;
}

export function createDigest(algorithm: Algorithm): Digest {
  return algorithm === 'CRC32' ? createCrc32() : createHash(algorithm);
}

function createCrc32(): Digest {
  let value = 0;
  return {
    update(chunk) {
      value = crc32(chunk, value);
    },
    digest() {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    },
  };
}

export function digestOf(algorithm: Algorithm, ...chunks: readonly Uint8Array[]): Buffer {
  const digest = createDigest(algorithm);
  for (const chunk of chunks) digest.update(chunk);
  return digest.digest();
}

/** The parts of a request that announce what its content hashes to. */
interface ChecksummedRequest {
  readonly headers: IncomingHttpHeaders;
  /** The headers that follow the content; complete once the content has ended. */
  readonly trailers: ReadonlyMap<string, string>;
}

export interface VerifiedDigests {
  /** The MD5 of the content in hex, as in an ETag. */
  readonly md5: string;
  readonly checksum?: Checksum;
}

interface DigestCheck {
  /** The hashes to calculate while the content is read. */
  readonly algorithms: readonly Algorithm[];
  /** Call it when the content has ended. @throws S3Error `BadDigest`, `MalformedTrailerError`, `InvalidRequest`. */
  verify(calculated: ReadonlyMap<Algorithm, Buffer>): VerifiedDigests;
}

const headerOf = (algorithm: ChecksumAlgorithm) => `x-amz-checksum-${algorithm.toLowerCase()}`;

/**
 * Reads from a request what its content must hash to.
 * @throws S3Error `InvalidDigest`, `InvalidRequest`, or `NotImplemented` for an unknown algorithm, before any content is read.
 */
export function expectedDigests(request: ChecksummedRequest): DigestCheck {
  const md5 = decodeDigest(
    request.headers['content-md5'] as string | undefined,
    16,
    () => new S3Error('InvalidDigest'),
  );
  const algorithm = announcedAlgorithm(request.headers);
  return {
    algorithms: algorithm === undefined ? ['MD5'] : ['MD5', algorithm],
    verify(calculated) {
      const verified = { md5: check('Content-MD5', md5, calculated.get('MD5')).toString('hex') };
      if (algorithm === undefined) return verified;
      const value = check(algorithm, announcedChecksum(request, algorithm), calculated.get(algorithm));
      return { ...verified, checksum: { algorithm, value: value.toString('base64') } };
    },
  };
}

function check(name: string, expected: Buffer | undefined, calculated: Buffer | undefined): Buffer {
  if (!calculated || (expected && !expected.equals(calculated))) {
    throw new S3Error('BadDigest', { message: `The ${name} you specified did not match the calculated checksum.` });
  }
  return calculated;
}

/** The algorithm of the checksum that is in a header, or that a header announces for the trailer. */
function announcedAlgorithm(headers: IncomingHttpHeaders): ChecksumAlgorithm | undefined {
  const trailer = (headers['x-amz-trailer'] as string | undefined)?.trim().toLowerCase();
  const named = CHECKSUM_ALGORITHMS.filter((algorithm) => {
    return headers[headerOf(algorithm)] !== undefined || trailer === headerOf(algorithm);
  });
  if (named.length > 1) throw new S3Error('InvalidRequest', { message: 'Expecting a single x-amz-checksum- header.' });
  if (named.length === 0 && trailer !== undefined) {
    throw new S3Error('NotImplemented', { details: { Header: 'x-amz-trailer', Value: trailer } });
  }
  if (named.length === 0 && headers['x-amz-sdk-checksum-algorithm'] !== undefined) {
    throw new S3Error('InvalidRequest', {
      message:
        'x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.',
    });
  }
  return named[0];
}

/** The checksum itself, from the header or, now that the content has ended, from the trailer. */
function announcedChecksum({ headers, trailers }: ChecksummedRequest, algorithm: ChecksumAlgorithm) {
  const name = headerOf(algorithm);
  const inHeader = headers[name] as string | undefined;
  const value = inHeader ?? trailers.get(name);
  if (value === undefined) throw new S3Error('MalformedTrailerError');
  const place = inHeader === undefined ? 'trailing header' : 'header';
  const invalid = () => new S3Error('InvalidRequest', { message: `Value for ${name} ${place} is invalid.` });
  return decodeDigest(value, CHECKSUM_BYTES[algorithm], invalid);
}

function decodeDigest(base64: string | undefined, bytes: number, invalid: () => S3Error): Buffer | undefined {
  if (base64 === undefined) return undefined;
  const digest = Buffer.from(base64, 'base64');
  if (digest.length !== bytes || digest.toString('base64') !== base64) throw invalid();
  return digest;
}
