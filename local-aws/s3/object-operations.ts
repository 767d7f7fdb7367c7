import type { ByteRange, StoredObject } from './bucket-files.ts';
import { checkRead, conditionOf, requestedRange } from './conditions.ts';
import { receiveContent } from './content.ts';
import { checksumHeaders, describingHeaders, keptHeaders, quoted, writtenHeaders } from './object-headers.ts';
import { S3Error } from './s3-error.ts';
import type { Handler, S3Request, S3Response } from './s3-request.ts';

/** Replaces the whole object or nothing. Of two requests at once with `If-None-Match: *`, the first to finish wins. */
export const putObject: Handler = async (bucket, request) => {
  const { key, headers } = request;
  const kept = keptHeaders(headers);
  const condition = conditionOf(request, bucket.objects);
  condition(); // Checked now, so that a request which must fail is refused before its content is read; and again at the end.
  const { draft, digests } = await receiveContent(bucket, request);
  const { md5: etag, checksum } = digests;
  const fields = { key, etag, headers: kept, ...(checksum && { checksum }) };
  const object = await bucket.objects.publish(draft, fields, { before: condition });
  bucket.created(object, 'PutObject');
  return { status: 200, headers: writtenHeaders(object) };
};

export const getObject: Handler = async (bucket, request) => {
  const { headers } = request;
  const object = bucket.objects.find(request.key) ?? (await missing(request));
  if (checkRead(headers, object) === 'fresh') return { status: 304, headers: freshHeaders(object) };
  const range = requestedRange(headers, object);
  // Nothing was awaited since the object was found, so this is the content of the same object.
  const body = bucket.objects.content(object, range);
  return { ...(range ? partOf(object, range) : whole(object, request)), body };
};

export const headObject: Handler = async (bucket, request) => {
  const object = bucket.objects.find(request.key) ?? (await missing(request));
  if (checkRead(request.headers, object) === 'fresh') return { status: 304, headers: freshHeaders(object) };
  bucket.objects.requireWhole(object);
  const range = requestedRange(request.headers, object);
  return range ? partOf(object, range) : whole(object, request);
};

/** The answer is the same whether the object existed or not. */
export const deleteObject: Handler = (bucket, { key }) => {
  bucket.objects.delete(key);
  return { status: 204 };
};

/** @throws S3Error `NoSuchKey`; `AccessDenied` when the sender may not list the bucket and so may not learn what is missing. */
export async function missing({ bucket, key, mayList }: Pick<S3Request, 'bucket' | 'key' | 'mayList'>): Promise<never> {
  if (!(await mayList(bucket))) throw new S3Error('AccessDenied');
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
