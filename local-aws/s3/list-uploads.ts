import { keyEncoder, limitParameter } from './list-parameters.ts';
import { quoted } from './object-headers.ts';
import type { Handler } from './s3-request.ts';
import { findUpload } from './upload-operations.ts';
import { renderXml } from './xml.ts';

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
