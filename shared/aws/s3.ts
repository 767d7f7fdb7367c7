import { S3Client } from '@aws-sdk/client-s3';
import { translateFailures } from './failures.ts';

/**
 * The one S3 client of a function. Checksums only where an operation requires them: the default adds the CRC32 of an empty
 * body to presigned URLs, which refuses every upload made with them.
 */
export const s3 = new S3Client({
  maxAttempts: 3,
  requestChecksumCalculation: 'WHEN_REQUIRED',
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 30_000 },
});
translateFailures(s3);
