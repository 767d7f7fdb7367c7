import { checkRead, checkWrite } from './conditions.ts';
import { requestedAlgorithm } from './content-digests.ts';
import { checksumElements, keptHeaders, quoted } from './object-headers.ts';
import { missing } from './object-operations.ts';
import { decodeKey } from './operation.ts';
import { S3Error } from './s3-error.ts';
import type { Bucket, Handler, S3Request } from './s3-request.ts';
import { renderXml } from './xml.ts';

/** Bucket and key that a copy reads. @throws S3Error `InvalidArgument`, `InvalidURI`, `NotImplemented`. */
export function copySource(header: string): { bucket: string; key: string } {
  const [, bucket, key] = /^\/?([^/?]+)\/([^?]+)$/s.exec(header) ?? [];
  if (header.includes('?')) throw new S3Error('NotImplemented', { details: { Header: 'x-amz-copy-source' } });
  if (bucket === undefined || key === undefined) {
    throw new S3Error('InvalidArgument', { message: 'Copy Source must mention the source bucket and key' });
  }
  return { bucket, key: decodeKey(key) };
}

/**
 * Copies within the bucket or from another one, with the headers of the source (`x-amz-metadata-directive: COPY`, the
 * default) or those of the request (`REPLACE`). The ETag is the content's MD5 even if the source came in parts.
 */
export function copyObject(buckets: ReadonlyMap<string, Bucket>): Handler {
  return async (bucket, request) => {
    const { key, headers } = request;
    const directive = metadataDirective(request);
    const from = copySource(String(headers['x-amz-copy-source']));
    const source = buckets.get(from.bucket)?.objects;
    if (!source) throw new S3Error('NoSuchBucket', { details: { BucketName: from.bucket } });
    if (directive === 'COPY' && source === bucket.objects && from.key === key) {
      throw new S3Error('InvalidRequest', {
        message: 'This copy request is illegal because it is trying to copy an object to itself without changing it.',
      });
    }
    const condition = () => checkWrite(headers, bucket.objects.find(key));
    condition();
    const object = source.find(from.key) ?? (await missing({ ...from, access: request.access }));
    checkRead(headers, object, 'x-amz-copy-source-');
    const algorithm = requestedAlgorithm(headers) ?? object.checksum?.algorithm;
    const draft = await bucket.objects.receive(source.content(from.key), algorithm ? ['MD5', algorithm] : ['MD5']);
    const value = algorithm && draft.digests.get(algorithm)?.toString('base64');
    const fields = {
      key,
      etag: draft.digests.get('MD5')?.toString('hex') ?? '',
      headers: directive === 'COPY' ? object.headers : keptHeaders(headers),
      ...(algorithm && value && { checksum: { algorithm, value } }),
    };
    const copy = await bucket.objects.publish(draft, fields, { before: condition });
    bucket.created(copy, 'CopyObject');
    const LastModified = new Date(copy.lastModified).toISOString();
    const result = { LastModified, ETag: quoted(copy.etag), ...checksumElements(copy.checksum) };
    return { status: 200, body: renderXml('CopyObjectResult', result) };
  };
}

function metadataDirective({ headers }: S3Request): 'COPY' | 'REPLACE' {
  const directive = headers['x-amz-metadata-directive'] ?? 'COPY';
  if (directive === 'COPY' || directive === 'REPLACE') return directive;
  throw new S3Error('InvalidArgument', { message: 'Unknown metadata directive.' });
}
