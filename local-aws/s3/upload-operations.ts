import { receiveContent } from './content.ts';
import { requestedAlgorithm } from './content-digests.ts';
import type { Upload } from './multipart-store.ts';
import { keptHeaders, writtenHeaders } from './object-headers.ts';
import { S3Error } from './s3-error.ts';
import type { Bucket, Handler, S3Request } from './s3-request.ts';
import { renderXml } from './xml.ts';

/** Source: S3 quotas. */
const PART_NUMBER_MAX = 10_000;

/** @throws S3Error `NoSuchUpload`, also for an upload of another key. */
export function findUpload(bucket: Bucket, { key, query }: S3Request): Upload {
  const upload = bucket.uploads.find(query.get('uploadId') ?? '', key);
  if (!upload) throw new S3Error('NoSuchUpload');
  return upload;
}

export const createMultipartUpload: Handler = async (bucket, { key, headers }) => {
  const checksumAlgorithm = requestedAlgorithm(headers);
  const type = headers['x-amz-checksum-type'];
  // A checksum of the whole object cannot be made of those of its parts; S3 offers that for CRCs alone, and we not at all.
  if (type !== undefined && type !== 'COMPOSITE') {
    throw new S3Error('NotImplemented', { details: { Header: 'x-amz-checksum-type' } });
  }
  const record = { key, initiated: Date.now(), headers: keptHeaders(headers) };
  const UploadId = await bucket.uploads.begin({ ...record, ...(checksumAlgorithm && { checksumAlgorithm }) });
  const body = renderXml('InitiateMultipartUploadResult', { Bucket: bucket.name, Key: key, UploadId });
  const answered = checksumAlgorithm && {
    'x-amz-checksum-algorithm': checksumAlgorithm,
    'x-amz-checksum-type': 'COMPOSITE',
  };
  return { status: 200, headers: { ...answered }, body };
};

/** @throws S3Error `InvalidArgument`. */
export function partNumberOf({ query }: S3Request): number {
  const text = query.get('partNumber') ?? '';
  const partNumber = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (partNumber >= 1 && partNumber <= PART_NUMBER_MAX) return partNumber;
  throw new S3Error('InvalidArgument', { message: 'Part number must be an integer between 1 and 10000, inclusive' });
}

/** A part of the same number replaces the one before. Of two at once the last to finish stays. */
export const uploadPart: Handler = async (bucket, request) => {
  const partNumber = partNumberOf(request);
  const upload = findUpload(bucket, request);
  const { draft, digests } = await receiveContent(bucket, request);
  const { md5: etag, checksum } = digests;
  const part = await bucket.uploads.putPart(upload.id, draft, { partNumber, etag, ...(checksum && { checksum }) });
  if (!part) throw new S3Error('NoSuchUpload');
  return { status: 200, headers: writtenHeaders({ etag, ...(checksum && { checksum }) }) };
};

/** A part that is being sent meanwhile is refused when it ends. Aborting what has ended already is no error, as on S3. */
export const abortMultipartUpload: Handler = (bucket, request) => {
  const { key, query } = request;
  if (bucket.uploads.findEnded(query.get('uploadId') ?? '', key)) return { status: 204 };
  bucket.uploads.end(findUpload(bucket, request).id, { key });
  return { status: 204 };
};
