import type { ByteRange } from './object-store.ts';
import { S3Error } from './s3-error.ts';

/**
 * The bytes a `Range` header asks for; `undefined` means all: no header, one that is malformed, or several ranges, which
 * S3 answers with the whole object.
 * @throws S3Error `InvalidRange` when the range holds no byte of the object.
 * Source: RFC 9110, section 14.
 */
export function parseRange(header: string | undefined, size: number): ByteRange | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return undefined;
  const [, from = '', to = ''] = match;
  const range: ByteRange =
    from === ''
      ? { first: Math.max(size - Number(to), 0), last: size - 1 }
      : { first: Number(from), last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined;
  if (range.first > range.last) {
    throw new S3Error('InvalidRange', {
      details: { RangeRequested: header ?? '', ActualObjectSize: String(size) },
      headers: { 'content-range': `bytes */${size}` },
    });
  }
  return range;
}
