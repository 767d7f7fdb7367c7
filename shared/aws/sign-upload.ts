import { PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { SignUpload } from '../files/object-store.ts';
import { bucket, s3 } from './object-store.ts';

/**
 * {@link SignUpload} by presigned URLs of S3. Length, type and `If-None-Match` are signed headers, so S3 refuses any other values. (The
 * presigner signs the type only because `signableHeaders` names it.) A checksum must be a header as well: by default the presigner moves
 * the checksum into the query, where S3 ignores it. If the credentials that signed the URL expire earlier, the URL expires with them.
 *
 * This function has a file of its own, so that only the bundles that need it contain the presigner.
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
