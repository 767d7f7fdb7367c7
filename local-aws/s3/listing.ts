import { findUpload } from './multipart-operations.ts';
import { quoted } from './object-headers.ts';
import { S3Error } from './s3-error.ts';
import type { Handler } from './s3-request.ts';
import { renderXml } from './xml.ts';

interface PageRequest {
  readonly prefix: string;
  /** Absent: keys are not grouped. */
  readonly delimiter?: string;
  /** Entries up to and including this one are left out. */
  readonly after: string;
  readonly limit: number;
}

interface Page {
  readonly keys: string[];
  /** Groups: the part of the keys up to the delimiter that follows the prefix. */
  readonly commonPrefixes: string[];
  /** What the next page comes after; absent when this is the last. */
  readonly next?: string;
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

/**
 * One page of the keys with a prefix; a group counts as one entry.
 * @param keys  sorted by UTF-8 bytes.
 */
export function listPage(keys: readonly string[], { prefix, delimiter, after, limit }: PageRequest): Page {
  const page = { keys: [] as string[], commonPrefixes: [] as string[] };
  let last: string | undefined;
  // The key that equals the prefix belongs to the page, so without `after` we begin just before it.
  const begin = bytesOf(after) >= bytesOf(prefix) ? firstAfter(keys, after) : firstAt(keys, prefix);
  for (let index = begin; index < keys.length; index++) {
    const key = keys[index] ?? '';
    if (!key.startsWith(prefix)) break;
    const cut = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
    const group = cut === -1 ? undefined : key.slice(0, cut + (delimiter ?? '').length);
    if (group !== undefined && (group === last || group === after)) continue;
    if (page.keys.length + page.commonPrefixes.length === limit)
      return last === undefined ? page : { ...page, next: last };
    last = group ?? key;
    (group === undefined ? page.keys : page.commonPrefixes).push(last);
  }
  return page;
}

/** Index of the first key that is not before the given one. */
function firstAt(keys: readonly string[], key: string): number {
  const index = firstAfter(keys, key);
  return index > 0 && keys[index - 1] === key ? index - 1 : index;
}

/**
 * A parameter that limits a list: a whole number from 0 on; S3 never gives more than `max` at once.
 * @throws S3Error `InvalidArgument`.
 */
function limitParameter(query: URLSearchParams, name: string, max = 1000): number {
  const text = query.get(name);
  if (text === null || text === '') return max;
  if (!/^\d{1,9}$/.test(text)) {
    throw new S3Error('InvalidArgument', { message: `Provided ${name} not an integer or within integer range` });
  }
  return Math.min(Number(text), max);
}

/** How keys are written in the answer: as they are, or percent-encoded where the request asks for that. */
function keyEncoder(query: URLSearchParams): { encode: (key: string) => string; EncodingType?: 'url' } {
  const type = query.get('encoding-type');
  if (type === null) return { encode: (key) => key };
  if (type !== 'url') throw new S3Error('InvalidArgument', { message: 'Invalid Encoding Method specified in Request' });
  const encode = (key: string) => encodeURIComponent(key).replace(/%2F/g, '/').replace(/%20/g, '+');
  return { encode, EncodingType: 'url' };
}

/** ListObjectsV2: sorted by the bytes of the keys. A continuation token is opaque to clients, so it may be our cursor. */
export const listObjects: Handler = (bucket, { query }) => {
  if (query.get('list-type') !== '2') throw new S3Error('InvalidArgument', { message: 'Invalid List Type' });
  const { encode, EncodingType } = keyEncoder(query);
  const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter') || undefined];
  const token = query.get('continuation-token') ?? undefined;
  const startAfter = query.get('start-after') ?? undefined;
  const limit = limitParameter(query, 'max-keys');
  const after = token === undefined ? (startAfter ?? '') : decodeToken(token);
  const page = listPage(bucket.objects.keys(), { prefix, after, limit, ...(delimiter && { delimiter }) });
  const Contents = page.keys.flatMap((key) => {
    const object = bucket.objects.find(key);
    if (!object) return [];
    const LastModified = new Date(object.lastModified).toISOString();
    const { size: Size, checksum } = object;
    const ChecksumAlgorithm = checksum?.algorithm;
    return {
      Key: encode(key),
      LastModified,
      ETag: quoted(object.etag),
      ChecksumAlgorithm,
      Size,
      StorageClass: 'STANDARD',
    };
  });
  const body = renderXml('ListBucketResult', {
    Name: bucket.name,
    Prefix: encode(prefix),
    Delimiter: delimiter && encode(delimiter),
    MaxKeys: limit,
    EncodingType,
    KeyCount: page.keys.length + page.commonPrefixes.length,
    IsTruncated: page.next !== undefined,
    StartAfter: startAfter && encode(startAfter),
    ContinuationToken: token,
    NextContinuationToken: page.next && encodeToken(page.next),
    Contents,
    CommonPrefixes: page.commonPrefixes.map((group) => ({ Prefix: encode(group) })),
  });
  return { status: 200, body };
};

const encodeToken = (key: string) => Buffer.from(key).toString('base64url');

function decodeToken(token: string): string {
  const key = Buffer.from(token, 'base64url').toString('utf8');
  if (encodeToken(key) === token && key !== '') return key;
  throw new S3Error('InvalidArgument', { message: 'The continuation token provided is incorrect' });
}

/** ListMultipartUploads: by key, those of one key by age. The markers name the last entry of the page before. */
export const listMultipartUploads: Handler = (bucket, { query }) => {
  const { encode, EncodingType } = keyEncoder(query);
  const prefix = query.get('prefix') ?? '';
  const keyMarker = query.get('key-marker') ?? '';
  const idMarker = query.get('upload-id-marker') ?? '';
  const limit = limitParameter(query, 'max-uploads');
  const all = bucket.uploads.list().filter(({ key }) => key.startsWith(prefix));
  const markedAt = all.findIndex(({ key, id }) => key === keyMarker && id === idMarker);
  const isAfter = (key: string) => Buffer.compare(Buffer.from(key), Buffer.from(keyMarker)) > 0;
  const rest = markedAt === -1 ? all.filter(({ key }) => keyMarker === '' || isAfter(key)) : all.slice(markedAt + 1);
  const page = rest.slice(0, limit);
  const last = page.length < rest.length ? page.at(-1) : undefined;
  const body = renderXml('ListMultipartUploadsResult', {
    Bucket: bucket.name,
    KeyMarker: encode(keyMarker),
    UploadIdMarker: idMarker,
    NextKeyMarker: last && encode(last.key),
    NextUploadIdMarker: last?.id,
    Prefix: encode(prefix),
    EncodingType,
    MaxUploads: limit,
    IsTruncated: last !== undefined,
    Upload: page.map(({ key, id, initiated }) => ({
      Key: encode(key),
      UploadId: id,
      StorageClass: 'STANDARD',
      Initiated: new Date(initiated).toISOString(),
    })),
  });
  return { status: 200, body };
};

export const listParts: Handler = (bucket, request) => {
  const { key, query } = request;
  const { encode } = keyEncoder(query);
  const upload = findUpload(bucket, request);
  const marker = Number(query.get('part-number-marker') ?? 0);
  const limit = limitParameter(query, 'max-parts');
  const rest = [...upload.parts.values()]
    .sort((a, b) => a.partNumber - b.partNumber)
    .filter(({ partNumber }) => partNumber > marker);
  const page = rest.slice(0, limit);
  const isTruncated = page.length < rest.length;
  const body = renderXml('ListPartsResult', {
    Bucket: bucket.name,
    Key: encode(key),
    UploadId: upload.id,
    PartNumberMarker: marker,
    NextPartNumberMarker: isTruncated ? page.at(-1)?.partNumber : undefined,
    MaxParts: limit,
    IsTruncated: isTruncated,
    ChecksumAlgorithm: upload.checksumAlgorithm,
    Part: page.map(({ partNumber, lastModified, etag, size, checksum }) => ({
      PartNumber: partNumber,
      LastModified: new Date(lastModified).toISOString(),
      ETag: quoted(etag),
      Size: size,
      ...(checksum && { [`Checksum${checksum.algorithm}`]: checksum.value }),
    })),
    StorageClass: 'STANDARD',
  });
  return { status: 200, body };
};
