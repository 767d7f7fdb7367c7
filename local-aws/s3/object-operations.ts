import { checkRead, checkWrite, parseRange, rangeOf } from './conditions.ts';
import { readDocument, receiveContent } from './content.ts';
import { checksumHeaders, describingHeaders, keptHeaders, quoted, writtenHeaders } from './object-headers.ts';
import type { ByteRange, StoredObject } from './object-store.ts';
import { S3Error } from './s3-error.ts';
import type { Handler, S3Request, S3Response } from './s3-request.ts';
import { childText, renderXml, type XmlElements } from './xml.ts';

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

/** Source: S3 API, DeleteObjects. */
const KEYS_MAX = 1000;

/**
 * Deletes up to 1,000 keys, each for itself: one that the sender may not delete is reported among the errors of a 200, and
 * the others go. If we die meanwhile, those before are gone and the rest is there; deleting again does no harm.
 */
export const deleteObjects: Handler = async (bucket, request) => {
  const checksums = Object.keys(request.headers).filter((name) =>
    /^(content-md5|x-amz-(checksum-|trailer))/.test(name),
  );
  if (checksums.length === 0) {
    throw new S3Error('InvalidRequest', {
      message: 'Missing required header for this request: Content-MD5 OR x-amz-checksum-*',
    });
  }
  const document = await readDocument(request, 'Delete');
  const objects = document.children.filter(({ name }) => name === 'Object');
  const keys = objects.map((object) => childText(object, 'Key'));
  if (keys.length === 0 || keys.length > KEYS_MAX || keys.includes(undefined)) throw new S3Error('MalformedXML');
  if (objects.some(({ children }) => children.some(({ name }) => name !== 'Key'))) throw new S3Error('NotImplemented');
  const isQuiet = childText(document, 'Quiet') === 'true';
  const Deleted: XmlElements[] = [];
  const errors: XmlElements[] = [];
  for (const Key of keys as string[]) {
    if (await request.access.delete(bucket.name, Key)) {
      bucket.objects.delete(Key);
      if (!isQuiet) Deleted.push({ Key });
    } else {
      errors.push({ Key, Code: 'AccessDenied', Message: 'Access Denied' });
    }
  }
  return { status: 200, body: renderXml('DeleteResult', { Deleted, Error: errors }) };
};
