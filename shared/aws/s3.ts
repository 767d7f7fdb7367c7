import { S3Client } from '@aws-sdk/client-s3';
import { CALL_MS, callSettings } from './call-times.ts';
import { prepare } from './failures.ts';

/**
 * The one S3 client of a function. Checksums only where an operation requires them: the default adds the CRC32 of an empty
 * body to presigned URLs, which refuses every upload made with them. Calls that may take longer than one for a small object
 * say so themselves.
 */
export const s3 = new S3Client({ ...callSettings(CALL_MS.object), requestChecksumCalculation: 'WHEN_REQUIRED' });
prepare(s3);
