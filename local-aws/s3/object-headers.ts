import type { IncomingHttpHeaders } from 'node:http';
import type { StoredObject } from './bucket-files.ts';
import { type Checksum, typeOf } from './checksums.ts';
import { S3Error } from './s3-error.ts';

const KEPT = [
  'content-type',
  'content-disposition',
  'cache-control',
  'content-encoding',
  'content-language',
  'expires',
];
/** The limit for the names and values of all `x-amz-meta-` headers together. Source: S3, "User-defined object metadata". */
const METADATA_MAX_BYTES = 2 * 1024;

/**
 * Picks the headers of an upload that come back with every download.
 * @throws S3Error `MetadataTooLarge`.
 */
export function keptHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const metadata = Object.entries(headers).filter(([name]) => name.startsWith('x-amz-meta-')) as [string, string][];
  const bytes = metadata.map(([name, value]) => name.length - 'x-amz-meta-'.length + Buffer.byteLength(value));
  if (bytes.reduce((sum, one) => sum + one, 0) > METADATA_MAX_BYTES) throw new S3Error('MetadataTooLarge');
  const kept = KEPT.flatMap((name) => {
    const value = name === 'content-encoding' ? storedEncoding(headers[name]) : (headers[name] as string | undefined);
    return value ? [[name, value] as const] : [];
  });
  return { 'content-type': 'binary/octet-stream', ...Object.fromEntries([...kept, ...metadata]) };
}

/** `aws-chunked` describes the transfer, not the content, so it is not stored. */
function storedEncoding(header: string | undefined): string | undefined {
  const encodings = (header ?? '').split(',').map((encoding) => encoding.trim());
  return encodings.filter((encoding) => encoding !== 'aws-chunked').join(', ');
}

/** The entity tag as headers and documents write it. */
export const quoted = (etag: string) => `"${etag}"`;

/** S3 says in a header that it encrypts an object. We send the header too, so that a test notices a CDN that passes it on. */
const ENCRYPTION = { 'x-amz-server-side-encryption': 'AES256' };

/** The headers of the answer to an upload. */
export function writtenHeaders({ etag, checksum }: { etag: string; checksum?: Checksum }): Record<string, string> {
  return { ...ENCRYPTION, etag: quoted(etag), ...checksumHeaders(checksum) };
}

/** The headers that describe an object to its reader. */
export function describingHeaders(object: StoredObject): Record<string, string> {
  return {
    ...ENCRYPTION,
    ...object.headers,
    'accept-ranges': 'bytes',
    etag: quoted(object.etag),
    'last-modified': new Date(object.lastModified).toUTCString(),
  };
}

export function checksumHeaders(checksum: Checksum | undefined): Record<string, string> {
  if (!checksum) return {};
  return {
    [`x-amz-checksum-${checksum.algorithm.toLowerCase()}`]: checksum.value,
    'x-amz-checksum-type': typeOf(checksum),
  };
}

/** The checksum as an element of a document. */
export function checksumElements(checksum: Checksum | undefined): Record<string, string> {
  if (!checksum) return {};
  return { [`Checksum${checksum.algorithm}`]: checksum.value, ChecksumType: typeOf(checksum) };
}
