import type { ByteRange, StoredObject } from './bucket-files.ts';
import { conditionOf } from './conditions.ts';
import type { Draft } from './described-file.ts';
import { findUpload, partNumberOf } from './multipart-operations.ts';
import { checksumElements, keptHeaders, quoted } from './object-headers.ts';
import { missing } from './object-operations.ts';
import { decodeKey } from './operation.ts';
import { S3Error } from './s3-error.ts';
import type { Bucket, Handler, S3Request } from './s3-request.ts';
import { renderXml, timestamp } from './xml.ts';

/** The bucket and key that a copy reads. @throws S3Error `InvalidArgument`, `InvalidURI`, `KeyTooLongError`, `NotImplemented`. */
export function copySource(header: string): { bucket: string; key: string } {
  const [, bucket, key] = /^\/?([^/?]+)\/([^?]+)$/s.exec(header) ?? [];
  if (header.includes('?')) throw new S3Error('NotImplemented', { details: { Header: 'x-amz-copy-source' } });
  if (bucket === undefined || key === undefined) {
    throw new S3Error('InvalidArgument', { message: 'Copy Source must mention the source bucket and key' });
  }
  return { bucket, key: decodeKey(key) };
}

/**
 * Copies within the bucket or from another one. `x-amz-metadata-directive` says which headers the copy gets: those of the source (`COPY`,
 * the default) or those of the request (`REPLACE`). The ETag of the copy is the MD5 of its content, even when the source is a multipart
 * object.
 */
export function copyObject(buckets: ReadonlyMap<string, Bucket>): Handler {
  return async (bucket, request) => {
    const { key, headers } = request;
    const directive = metadataDirective(request);
    if ('x-amz-copy-source-range' in headers) {
      throw new S3Error('NotImplemented', { details: { Header: 'x-amz-copy-source-range' } });
    }
    const from = copySource(String(headers['x-amz-copy-source']));
    const source = sourceBucket(buckets, from);
    if (directive === 'COPY' && source === bucket.objects && from.key === key) {
      throw new S3Error('InvalidRequest', {
        message: 'This copy request is illegal because it is trying to copy an object to itself without changing it.',
      });
    }
    const condition = conditionOf(request, bucket.objects);
    condition();
    const object = source.find(from.key) ?? (await missing({ ...from, mayList: request.mayList }));
    const draft = await bucket.objects.receive(source.content(object), ['MD5']);
    const fields = {
      key,
      etag: etagOf(draft),
      ...(object.checksum && { checksum: object.checksum }),
      headers: directive === 'COPY' ? object.headers : keptHeaders(headers),
    };
    const copy = await bucket.objects.publish(draft, fields, { before: condition });
    bucket.created(copy, 'CopyObject');
    const result = { ...copyResult(copy), ...checksumElements(copy.checksum) };
    return { status: 200, body: renderXml('CopyObjectResult', result) };
  };
}

/** UploadPartCopy: a part whose content is an existing object, or a range of it. */
export function copyPart(buckets: ReadonlyMap<string, Bucket>): Handler {
  return async (bucket, request) => {
    const { headers } = request;
    const partNumber = partNumberOf(request);
    const upload = findUpload(bucket, request);
    const from = copySource(String(headers['x-amz-copy-source']));
    const source = sourceBucket(buckets, from);
    const object = source.find(from.key) ?? (await missing({ ...from, mayList: request.mayList }));
    const range = sourceRange(headers['x-amz-copy-source-range'], object);
    const { algorithm } = upload;
    const draft = await bucket.objects.receive(source.content(object, range), [
      'MD5',
      ...(algorithm ? [algorithm] : []),
    ]);
    const checksum = algorithm && draft.digests.get(algorithm)?.toString('base64');
    const fields = { partNumber, etag: etagOf(draft), ...(checksum && { checksum }) };
    const part = await bucket.uploads.putPart(upload.id, draft, fields);
    if (!part) throw new S3Error('NoSuchUpload');
    const result = { ...copyResult(part), ...(algorithm && { [`Checksum${algorithm}`]: checksum }) };
    return { status: 200, body: renderXml('CopyPartResult', result) };
  };
}

function sourceBucket(buckets: ReadonlyMap<string, Bucket>, from: { bucket: string }): Bucket['objects'] {
  const source = buckets.get(from.bucket)?.objects;
  if (!source) throw new S3Error('NoSuchBucket', { details: { BucketName: from.bucket } });
  return source;
}

/**
 * The reference of UploadPartCopy says that a range needs a source of more than 5 MB; S3 takes it from any source.
 * @throws S3Error `InvalidArgument`.
 * Source: LocalStack, answers of AWS recorded for `test_upload_part_copy_range`.
 */
function sourceRange(header: string | string[] | undefined, { size }: StoredObject): ByteRange | undefined {
  if (header === undefined) return undefined;
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(String(header)) ?? [];
  if (first === undefined || Number(first) > Number(last)) {
    throw new S3Error('InvalidArgument', {
      message:
        'The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy',
    });
  }
  if (Number(last) >= size) {
    throw new S3Error('InvalidArgument', {
      message: `Range specified is not valid for source object of size: ${size}`,
    });
  }
  return { first: Number(first), last: Number(last) };
}

const etagOf = ({ digests }: Draft) => digests.get('MD5')?.toString('hex') ?? '';

function copyResult({ lastModified, etag }: Pick<StoredObject, 'lastModified' | 'etag'>): Record<string, string> {
  return { LastModified: timestamp(lastModified), ETag: quoted(etag) };
}

function metadataDirective({ headers }: S3Request): 'COPY' | 'REPLACE' {
  const directive = headers['x-amz-metadata-directive'] ?? 'COPY';
  if (directive === 'COPY' || directive === 'REPLACE') return directive;
  throw new S3Error('InvalidArgument', { message: 'Unknown metadata directive.' });
}
