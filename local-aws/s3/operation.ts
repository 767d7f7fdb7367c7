import { S3Error } from './s3-error.ts';

interface OperationDefinition {
  readonly method: string;
  readonly target: 'bucket' | 'key';
  /** Query parameters that tell this operation from others. */
  readonly marks?: readonly string[];
  readonly isCopy?: true;
  /** Other query parameters that it takes. */
  readonly takes?: readonly string[];
  /** The `x-amz-` headers that only this operation takes. */
  readonly headers?: readonly string[];
}

/** The operations of the server. The first definition that fits a request is its operation. */
export const OPERATIONS = {
  HeadBucket: { method: 'HEAD', target: 'bucket' },
  ListObjectsV2: {
    method: 'GET',
    target: 'bucket',
    marks: ['list-type'],
    takes: ['prefix', 'start-after', 'continuation-token', 'max-keys'],
  },
  ListMultipartUploads: {
    method: 'GET',
    target: 'bucket',
    marks: ['uploads'],
    takes: ['prefix'],
  },
  CreateMultipartUpload: { method: 'POST', target: 'key', marks: ['uploads'], headers: ['x-amz-checksum-algorithm'] },
  CompleteMultipartUpload: { method: 'POST', target: 'key', marks: ['uploadId'] },
  UploadPartCopy: { method: 'PUT', target: 'key', marks: ['partNumber', 'uploadId'], isCopy: true },
  UploadPart: { method: 'PUT', target: 'key', marks: ['partNumber', 'uploadId'] },
  AbortMultipartUpload: { method: 'DELETE', target: 'key', marks: ['uploadId'] },
  CopyObject: { method: 'PUT', target: 'key', isCopy: true },
  PutObject: { method: 'PUT', target: 'key' },
  GetObject: { method: 'GET', target: 'key' },
  HeadObject: { method: 'HEAD', target: 'key' },
  DeleteObject: { method: 'DELETE', target: 'key' },
} as const satisfies Record<string, OperationDefinition>;

export type S3Operation = keyof typeof OPERATIONS;

/**
 * The `x-amz-` headers that an operation or the signature uses; a presigned URL may have them in its query. Any other is
 * refused, because otherwise the server would silently ignore it.
 */
const KNOWN_HEADERS = new RegExp(
  `^x-amz-(${[
    'algorithm|credential|date|expires|signedheaders|signature|content-sha256|security-token|user-agent',
    'decoded-content-length|trailer|sdk-checksum-algorithm',
    'checksum-(crc32|sha256|mode)',
    'meta-.+|metadata-directive',
    'copy-source(-range)?',
    // CloudFront sends its request id, for access logs.
    'cf-id',
  ].join('|')})$`,
  'i',
);
/** The SDK adds `x-id` for people who read logs. */
const isAside = (parameter: string) => parameter === 'x-id' || KNOWN_HEADERS.test(parameter);

export interface S3Target {
  readonly operation: S3Operation;
  readonly bucket: string;
  /** The key, decoded; empty for an operation on the bucket. */
  readonly key: string;
  readonly query: URLSearchParams;
}

/** S3's limit, in bytes of UTF-8. */
const KEY_MAX_BYTES = 1024;

/**
 * Finds the operation of a path-style request.
 * @param url  as in the request line.
 * @throws S3Error `InvalidURI`, `KeyTooLongError`, or `NotImplemented` for an unknown operation, parameter or `x-amz-` header.
 *   So no request is taken for another operation than the one that it names.
 */
export function recogniseOperation(method: string, url: string, headers: Readonly<Record<string, unknown>>): S3Target {
  const { bucket, key, query } = splitUrl(url);
  const target = key === '' ? 'bucket' : 'key';
  const parameters = [...query.keys()].filter((name) => !isAside(name));
  const found = Object.entries<OperationDefinition>(OPERATIONS).find(
    ([, definition]) =>
      definition.method === method &&
      definition.target === target &&
      (definition.marks ?? []).every((mark) => query.has(mark)) &&
      (definition.isCopy ?? false) === 'x-amz-copy-source' in headers &&
      parameters.every((name) => definition.marks?.includes(name) || definition.takes?.includes(name)),
  );
  const isKnown = (name: string) => KNOWN_HEADERS.test(name) || found?.[1].headers?.includes(name);
  const unknownHeader = Object.keys(headers).find((name) => name.startsWith('x-amz-') && !isKnown(name));
  if (bucket === '' || !found || unknownHeader) {
    throw new S3Error('NotImplemented', {
      details: { Request: `${method} ${url}`, ...(unknownHeader && { Header: unknownHeader }) },
    });
  }
  return { operation: found[0] as S3Operation, bucket, key, query };
}

/** Bucket and key of a request's URL, decoded. */
export function splitUrl(url: string): { bucket: string; key: string; query: URLSearchParams } {
  const [path = '', search = ''] = url.split(/\?(.*)/s);
  const [, bucket = '', key = ''] = /^\/([^/]*)\/?(.*)$/s.exec(path) ?? [];
  return { bucket, key: decodeKey(key), query: new URLSearchParams(search) };
}

/** @throws S3Error `InvalidURI`, `KeyTooLongError`. */
export function decodeKey(encoded: string): string {
  let key: string;
  try {
    key = decodeURIComponent(encoded);
  } catch {
    throw new S3Error('InvalidURI', { details: { URI: encoded } });
  }
  if (Buffer.byteLength(key) > KEY_MAX_BYTES) throw new S3Error('KeyTooLongError');
  if (leadsAboveRoot(key)) throw new S3Error('InvalidURI', { details: { URI: encoded } });
  return key;
}

/** Source: S3 user guide, "Naming Amazon S3 objects": of the parts up to any place, those that lead up may not be more than the others. */
function leadsAboveRoot(key: string): boolean {
  let depth = 0;
  return key.split('/').some((part) => {
    if (part === '..') depth -= 1;
    else if (part !== '.' && part !== '') depth += 1;
    return depth < 0;
  });
}
