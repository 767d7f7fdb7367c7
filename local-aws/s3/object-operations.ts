import { checkRead, checkWrite, rangeOf } from './conditions.ts';
import { receiveContent } from './content.ts';
import { checksumHeaders, describingHeaders, keptHeaders, quoted, writtenHeaders } from './object-headers.ts';
import type { ByteRange, StoredObject } from './object-store.ts';
import { parseRange } from './range.ts';
import { S3Error } from './s3-error.ts';
import type { Handler, S3Request, S3Response } from './s3-request.ts';

/** Replaces the object whole, or not at all. Of two at once with `If-None-Match: *` the first to finish wins. */
export const putObject: Handler = async (bucket, request) => {
  const { key, headers } = request;
  const kept = keptHeaders(headers);
  const condition = () => checkWrite(headers, bucket.objects.find(key));
  condition(); // It could only fail later as well, so nobody has to send the content in vain.
  const { draft, digests } = await receiveContent(bucket, request);
  const { md5: etag, checksum } = digests;
  const fields = { key, etag, headers: kept, ...(checksum && { checksum }) };
  const object = await bucket.objects.publish(draft, fields, { before: condition });
  bucket.created(object, 'PutObject');
  return { status: 200, headers: writtenHeaders(object) };
};

export const getObject: Handler = async (bucket, request) => {
  const { key, headers } = request;
  const object = bucket.objects.find(key) ?? (await missing(request));
  if (checkRead(headers, object) === 'fresh') return { status: 304, headers: freshHeaders(object) };
  const range = parseRange(rangeOf(headers, object), object.size);
  // No pause since we looked, so this is the content of the same object.
  const body = bucket.objects.content(key, range);
  return { ...(range ? partOf(object, range) : whole(object, request)), body };
};

export const headObject: Handler = async (bucket, request) => {
  const object = bucket.objects.find(request.key) ?? (await missing(request));
  if (checkRead(request.headers, object) === 'fresh') return { status: 304, headers: freshHeaders(object) };
  const range = parseRange(rangeOf(request.headers, object), object.size);
  return range ? partOf(object, range) : whole(object, request);
};

/** Answers the same whether the object was there or not. */
export const deleteObject: Handler = (bucket, { key }) => {
  bucket.objects.delete(key);
  return { status: 204 };
};

/** @throws S3Error `NoSuchKey`; `AccessDenied` when the sender may not know, because it may not list the bucket. */
export async function missing({ bucket, key, access }: Pick<S3Request, 'bucket' | 'key' | 'access'>): Promise<never> {
  if (!(await access.list(bucket))) throw new S3Error('AccessDenied');
  throw new S3Error('NoSuchKey', { details: { Key: key } });
}

function whole(object: StoredObject, { headers }: S3Request): S3Response {
  const withChecksum = String(headers['x-amz-checksum-mode']).toUpperCase() === 'ENABLED';
  return {
    status: 200,
    headers: {
      ...describingHeaders(object),
      ...(withChecksum && checksumHeaders(object.checksum)),
      'content-length': String(object.size),
    },
  };
}

function partOf(object: StoredObject, { first, last }: ByteRange): S3Response {
  return {
    status: 206,
    headers: {
      ...describingHeaders(object),
      'content-length': String(last - first + 1),
      'content-range': `bytes ${first}-${last}/${object.size}`,
    },
  };
}

function freshHeaders(object: StoredObject): Record<string, string> {
  const { 'cache-control': cacheControl } = object.headers;
  const headers = { etag: quoted(object.etag), 'last-modified': new Date(object.lastModified).toUTCString() };
  return cacheControl === undefined ? headers : { ...headers, 'cache-control': cacheControl };
}
