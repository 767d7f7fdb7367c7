import { PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { required } from '../env.ts';
import type { SignUpload } from '../files/object-store.ts';
import { s3 } from './s3.ts';

const bucket = required('UPLOADS_BUCKET');

/**
 * {@link SignUpload} by S3's presigned URLs. Length, type and `If-None-Match` are signed headers, so S3 refuses any other
 * (the presigner signs the type only when told to). A checksum must stay a header, too: moved into the query, as the
 * presigner does by default, S3 ignores it. The URL ends with the credentials that signed it, if those end earlier.
 */
export const signUpload: SignUpload = async ({ key, mimeType, sizeBytes, checksumSha256 }, { now, lifetimeMs }) => {
  const command = new PutObjectCommand({
    Bucket: bucket,
    Key: key,
    ContentLength: sizeBytes,
    ContentType: mimeType,
    IfNoneMatch: '*',
    ...(checksumSha256 !== undefined && { ChecksumSHA256: checksumSha256 }),
  });
  const url = await getSignedUrl(s3, command, {
    expiresIn: lifetimeMs / 1_000,
    signingDate: new Date(now),
    signableHeaders: new Set(['content-type']),
    unhoistableHeaders: new Set(['x-amz-checksum-sha256']),
  });
  const headers = {
    'Content-Type': mimeType,
    'If-None-Match': '*',
    ...(checksumSha256 !== undefined && { 'x-amz-checksum-sha256': checksumSha256 }),
  };
  return { url, headers };
};
