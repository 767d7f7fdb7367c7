import { keyEncoder, limitParameter } from './list-parameters.ts';
import { listPage } from './listing.ts';
import { quoted } from './object-headers.ts';
import { S3Error } from './s3-error.ts';
import type { Handler } from './s3-request.ts';
import { renderXml } from './xml.ts';

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
