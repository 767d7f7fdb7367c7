import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** What content is checked against: MD5 makes the ETag, the others are S3's `x-amz-checksum-*`. */
export type Algorithm = 'MD5' | ChecksumAlgorithm;

/** S3 knows CRC32C and CRC64NVME as well; nothing here uses them, so they are answered `NotImplemented`. */
export const CHECKSUM_ALGORITHMS = ['CRC32', 'SHA1', 'SHA256'] as const;
export type ChecksumAlgorithm = (typeof CHECKSUM_ALGORITHMS)[number];

/** Length of a checksum in bytes. */
export const CHECKSUM_BYTES: Record<ChecksumAlgorithm, number> = { CRC32: 4, SHA1: 20, SHA256: 32 };

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
