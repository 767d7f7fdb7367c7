import { type Checksum, checkPartAlgorithm, compositeOf, digestOf, uploadAlgorithm } from './checksums.ts';
import { conditionOf } from './conditions.ts';
import { readDocument, receiveContent } from './content.ts';
import type { Part, Upload } from './multipart-store.ts';
import { checksumElements, keptHeaders, quoted, writtenHeaders } from './object-headers.ts';
import { S3Error } from './s3-error.ts';
import type { Bucket, Handler, S3Request, S3Response } from './s3-request.ts';
import { childrenOf, childText, type ReadElement, renderXml } from './xml.ts';

/** Source: S3 quotas. */
const PART_NUMBER_MAX = 10_000;

/** @throws S3Error `NoSuchUpload`, even for an upload that exists under another key. */
export function findUpload(bucket: Bucket, { key, query }: S3Request): Upload {
  const upload = bucket.uploads.find(query.get('uploadId') ?? '', key);
  if (!upload) throw new S3Error('NoSuchUpload');
  return upload;
}

export const createMultipartUpload: Handler = async (bucket, { key, headers }) => {
  const algorithm = uploadAlgorithm(headers);
  const record = { key, initiated: bucket.objects.moment(), headers: keptHeaders(headers) };
  const UploadId = await bucket.uploads.begin({ ...record, ...(algorithm && { algorithm }) });
  return {
    status: 200,
    ...(algorithm && { headers: { 'x-amz-checksum-algorithm': algorithm, 'x-amz-checksum-type': 'COMPOSITE' } }),
    body: renderXml('InitiateMultipartUploadResult', { Bucket: bucket.name, Key: key, UploadId }),
  };
};

/** @throws S3Error `InvalidArgument`. */
export function partNumberOf({ query }: S3Request): number {
  const text = query.get('partNumber') ?? '';
  const partNumber = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (partNumber >= 1 && partNumber <= PART_NUMBER_MAX) return partNumber;
  throw new S3Error('InvalidArgument', { message: 'Part number must be an integer between 1 and 10000, inclusive' });
}

/** A part replaces an earlier one of the same number. Of two that arrive at once, the last to finish stays. */
export const uploadPart: Handler = async (bucket, request) => {
  const partNumber = partNumberOf(request);
  const upload = findUpload(bucket, request);
  checkPartAlgorithm(request.headers, upload.algorithm);
  const { draft, digests } = await receiveContent(bucket, request);
  const { md5: etag, checksum } = digests;
  const kept = upload.algorithm && checksum && { checksum: checksum.value };
  const part = await bucket.uploads.putPart(upload.id, draft, { partNumber, etag, ...kept });
  if (!part) throw new S3Error('NoSuchUpload');
  return { status: 200, headers: writtenHeaders({ etag, ...(checksum && { checksum }) }) };
};

/** A part that is being sent during the abort is refused when it has arrived. To abort an upload that has ended is no error, as on S3. */
export const abortMultipartUpload: Handler = (bucket, request) => {
  const { key, query } = request;
  if (bucket.uploads.findEnded(query.get('uploadId') ?? '', key)) return { status: 204 };
  bucket.uploads.end(findUpload(bucket, request).id, { key });
  return { status: 204 };
};

/** The least size of every part but the last. Source: S3 quotas. */
const PART_MIN_BYTES = 5 * 1024 * 1024;

/**
 * Joins the listed parts into the object, all or nothing. Parts that are not listed are deleted with the upload. A refused completion
 * leaves the upload as it was. A client that lost the answer of a successful completion may repeat it. As on S3, it then gets the same
 * answer again, and the object is not touched.
 */
export const completeMultipartUpload: Handler = async (bucket, request) => {
  const { key, query } = request;
  const document = await readDocument(request, 'CompleteMultipartUpload');
  const listed = listedParts(document);
  const etag = joinedEtag(listed);
  const ended = bucket.uploads.findEnded(query.get('uploadId') ?? '', key);
  if (ended?.etag === etag) return completed(bucket, key, ended);

  const upload = findUpload(bucket, request);
  const parts = findParts(listed, upload);
  const holds = conditionOf(request, bucket.objects, upload.initiated);
  const condition = () => {
    findUpload(bucket, request); // It may have been completed or aborted while the parts were joined.
    holds();
  };
  condition();
  const draft = await bucket.objects.receive(bucket.uploads.content(upload.id, parts), []).catch((error) => {
    findUpload(bucket, request); // When the upload has ended, its files are gone.
    throw error;
  });
  const sums = parts.map(({ checksum = '' }) => checksum);
  const result = { etag, ...(upload.algorithm && { checksum: compositeOf(upload.algorithm, sums) }) };
  const fields = { key, ...result, headers: upload.headers };
  const end = () => bucket.uploads.end(upload.id, { key, ...result });
  const object = await bucket.objects.publish(draft, fields, { before: condition, after: end });
  bucket.created(object, 'CompleteMultipartUpload');
  return completed(bucket, key, result);
};

function completed(
  { name }: Bucket,
  key: string,
  { etag = '', checksum }: { readonly etag?: string; readonly checksum?: Checksum },
): S3Response {
  const result = {
    Location: `/${name}/${key}`,
    Bucket: name,
    Key: key,
    ETag: quoted(etag),
    ...checksumElements(checksum),
  };
  const body = renderXml('CompleteMultipartUploadResult', result);
  return { status: 200, headers: { 'x-amz-server-side-encryption': 'AES256' }, body };
}

/** A part as the request lists it. */
interface ListedPart {
  readonly partNumber: number;
  readonly etag: string;
  readonly checksum?: string;
}

/** @throws S3Error `MalformedXML`, `InvalidPartOrder`; `NotImplemented` for a part with a checksum that is not known here. */
function listedParts(document: ReadElement): ListedPart[] {
  const parts = childrenOf(document, 'Part').map(listedPart);
  if (parts.length === 0) throw new S3Error('MalformedXML');
  parts.forEach(({ partNumber }, index) => {
    if (partNumber <= (parts[index - 1]?.partNumber ?? 0)) throw new S3Error('InvalidPartOrder');
  });
  return parts;
}

const LISTED = new Set(['PartNumber', 'ETag', 'ChecksumSHA256', 'ChecksumCRC32']);

function listedPart(element: ReadElement): ListedPart {
  const [number, etag] = [childText(element, 'PartNumber'), childText(element, 'ETag')];
  if (!/^\d{1,5}$/.test(number ?? '') || etag === undefined) throw new S3Error('MalformedXML');
  const unknown = Object.keys(element).find((name) => !LISTED.has(name));
  if (unknown !== undefined) throw new S3Error('NotImplemented', { details: { Element: unknown } });
  const checksum = childText(element, 'ChecksumSHA256') ?? childText(element, 'ChecksumCRC32');
  return { partNumber: Number(number), etag: etag.replace(/^"|"$/g, ''), ...(checksum && { checksum }) };
}

/** The ETag of a multipart object: the MD5 of the MD5s of its parts, and their number. */
function joinedEtag(parts: readonly ListedPart[]): string {
  const digest = digestOf('MD5', ...parts.map(({ etag }) => Buffer.from(etag, 'hex')));
  return `${digest.toString('hex')}-${parts.length}`;
}

/** Finds the stored parts that the request lists. @throws S3Error `InvalidPart`, `EntityTooSmall`; `InvalidRequest` for a missing checksum. */
function findParts(listed: readonly ListedPart[], upload: Upload): Part[] {
  const parts = listed.map(({ partNumber, etag, checksum }) => {
    if (upload.algorithm && checksum === undefined) {
      const created = `The upload was created using a ${upload.algorithm.toLowerCase()} checksum.`;
      const missing = `The complete request must include the checksum for each part. It was missing for part ${partNumber} in the request.`;
      throw new S3Error('InvalidRequest', { message: `${created} ${missing}` });
    }
    const part = upload.parts.get(partNumber);
    if (part?.etag === etag && part.checksum === checksum) return part;
    throw new S3Error('InvalidPart', { details: { UploadId: upload.id, PartNumber: String(partNumber), ETag: etag } });
  });
  const small = parts.slice(0, -1).find(({ size }) => size < PART_MIN_BYTES);
  if (!small) return parts;
  const sizes = { ProposedSize: String(small.size), MinSizeAllowed: String(PART_MIN_BYTES) };
  throw new S3Error('EntityTooSmall', { details: { ...sizes, PartNumber: String(small.partNumber) } });
}
