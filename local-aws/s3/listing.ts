import { quoted } from './object-headers.ts';
import { S3Error } from './s3-error.ts';
import type { Handler } from './s3-request.ts';
import { renderXml, timestamp } from './xml.ts';

/** S3 gives at most this many entries in one answer. */
const PAGE_MAX = 1000;

/** ListObjectsV2, sorted by the bytes of the keys. A continuation token is opaque to clients; here it encodes the last key. */
export const listObjects: Handler = (bucket, { query }) => {
  if (query.get('list-type') !== '2') throw new S3Error('InvalidArgument', { message: 'Invalid List Type' });
  const prefix = query.get('prefix') ?? '';
  const token = query.get('continuation-token') ?? undefined;
  const startAfter = query.get('start-after') ?? undefined;
  const limit = limitOf(query);
  const after = token === undefined ? (startAfter ?? '') : decodeToken(token);
  const page = listPage(bucket.objects.keys(), { prefix, after, limit });
  const Contents = page.keys.flatMap((key) => {
    const object = bucket.objects.find(key);
    if (!object) return [];
    return {
      Key: key,
      LastModified: timestamp(object.lastModified),
      ETag: quoted(object.etag),
      ChecksumAlgorithm: object.checksum?.algorithm,
      Size: object.size,
      StorageClass: 'STANDARD',
    };
  });
  const body = renderXml('ListBucketResult', {
    Name: bucket.name,
    Prefix: prefix,
    MaxKeys: limit,
    KeyCount: page.keys.length,
    IsTruncated: page.next !== undefined,
    StartAfter: startAfter,
    ContinuationToken: token,
    NextContinuationToken: page.next && encodeToken(page.next),
    Contents,
  });
  return { status: 200, body };
};

/** ListMultipartUploads: the first uploads with a prefix, sorted by key, then by age. */
export const listMultipartUploads: Handler = (bucket, { query }) => {
  const prefix = query.get('prefix') ?? '';
  const found = bucket.uploads.list().filter(({ key }) => key.startsWith(prefix));
  const body = renderXml('ListMultipartUploadsResult', {
    Bucket: bucket.name,
    Prefix: prefix,
    MaxUploads: PAGE_MAX,
    IsTruncated: found.length > PAGE_MAX,
    Upload: found.slice(0, PAGE_MAX).map(({ key, id, initiated }) => ({
      Key: key,
      UploadId: id,
      StorageClass: 'STANDARD',
      Initiated: timestamp(initiated),
    })),
  });
  return { status: 200, body };
};

interface PageRequest {
  readonly prefix: string;
  /** Keys up to and including this one are left out. */
  readonly after: string;
  readonly limit: number;
}

interface Page {
  readonly keys: readonly string[];
  /** The key that the next page comes after; absent when this is the last page, or an empty one. */
  readonly next?: string;
}

/**
 * One page of the keys with a prefix.
 * @param keys  sorted by UTF-8 bytes.
 */
export function listPage(keys: readonly string[], { prefix, after, limit }: PageRequest): Page {
  // The key that equals the prefix belongs to the page, so without `after` the page begins just before it.
  const begin = bytesOf(after) >= bytesOf(prefix) ? firstAfter(keys, after) : firstAt(keys, prefix);
  const rest = keys.slice(begin, begin + limit + 1);
  const length = rest.findIndex((key) => !key.startsWith(prefix));
  const matching = length === -1 ? rest : rest.slice(0, length);
  const page = { keys: matching.slice(0, limit) };
  const last = page.keys.at(-1);
  return matching.length > limit && last !== undefined ? { ...page, next: last } : page;
}

const bytesOf = (text: string) => Buffer.from(text).toString('latin1');

/** Index of the first of the sorted keys that comes after the given one. */
function firstAfter(keys: readonly string[], key: string): number {
  const bytes = bytesOf(key);
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bytesOf(keys[middle] ?? '') > bytes) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Index of the first key that is not before the given one. */
function firstAt(keys: readonly string[], key: string): number {
  const index = firstAfter(keys, key);
  return index > 0 && keys[index - 1] === key ? index - 1 : index;
}

/** The number that `max-keys` asks for, at most {@link PAGE_MAX}. @throws S3Error `InvalidArgument` when it is no whole number. */
function limitOf(query: URLSearchParams): number {
  const text = query.get('max-keys');
  if (text === null || text === '') return PAGE_MAX;
  if (!/^\d{1,9}$/.test(text)) {
    throw new S3Error('InvalidArgument', { message: 'Provided max-keys not an integer or within integer range' });
  }
  return Math.min(Number(text), PAGE_MAX);
}

const encodeToken = (key: string) => Buffer.from(key).toString('base64url');

function decodeToken(token: string): string {
  const key = Buffer.from(token, 'base64url').toString('utf8');
  if (encodeToken(key) === token && key !== '') return key;
  throw new S3Error('InvalidArgument', { message: 'The continuation token provided is incorrect' });
}
