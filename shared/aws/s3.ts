import { S3Client } from '@aws-sdk/client-s3';
import { translateFailures } from './failures.ts';

/**
 * The one S3 client of a function. Checksums only where an operation requires them: the default adds the CRC32 of an empty
 * body to presigned URLs, which refuses every upload made with them. A part of 5 MiB or a copy of 100 MiB takes S3 seconds;
 * thirty without a word mean that it is lost.
 */
export const s3 = new S3Client({
  maxAttempts: 3,
  requestChecksumCalculation: 'WHEN_REQUIRED',
  requestHandler: { connectionTimeout: 3_000, requestTimeout: 30_000, throwOnRequestTimeout: true },
});
translateFailures(s3);
