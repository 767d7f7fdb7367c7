import type { IncomingHttpHeaders } from 'node:http';
import type { ByteRange, StoredObject } from './object-store.ts';
import { S3Error } from './s3-error.ts';

/** Whether one of the entity tags in the header is the object's; quotes are optional, as S3 has them. */
function names(header: string, object: StoredObject): boolean {
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '').replace(/^"|"$/g, '') === object.etag);
}

// HTTP dates have no milliseconds, so both sides are compared in whole seconds. A malformed date is ignored.
const isModifiedSince = (header: string, object: StoredObject): boolean | undefined => {
  const since = Date.parse(header);
  return Number.isNaN(since) ? undefined : Math.floor(object.lastModified / 1000) > Math.floor(since / 1000);
};

/**
 * Checks the conditions of a read: `fresh` means that the caller already has this version (304).
 * @param prefix  `x-amz-copy-source-` for the source of a copy, where a version that the caller has is a failed condition.
 * @throws S3Error `PreconditionFailed`.
 * Source: RFC 9110, section 13.2.2, whose order of precedence S3 keeps.
 */
export function checkRead(headers: IncomingHttpHeaders, object: StoredObject, prefix = ''): 'fresh' | 'send' {
  const header = (name: string) => headers[prefix + name] as string | undefined;
  const [ifMatch, ifNoneMatch] = [header('if-match'), header('if-none-match')];
  const [ifModifiedSince, ifUnmodifiedSince] = [header('if-modified-since'), header('if-unmodified-since')];
  const fail = (condition: string) => new S3Error('PreconditionFailed', { details: { Condition: condition } });
  if (ifMatch !== undefined) {
    if (!names(ifMatch, object)) throw fail('If-Match');
  } else if (ifUnmodifiedSince !== undefined && isModifiedSince(ifUnmodifiedSince, object)) {
    throw fail('If-Unmodified-Since');
  }
  const fresh =
    ifNoneMatch !== undefined
      ? names(ifNoneMatch, object)
      : ifModifiedSince !== undefined && isModifiedSince(ifModifiedSince, object) === false;
  if (fresh && prefix !== '') throw fail('If-None-Match');
  return fresh ? 'fresh' : 'send';
}

/**
 * The range that is asked for; none when `If-Range` names another version, so that the caller gets the whole of this one.
 * S3 honours it, though its reference does not mention it.
 */
export function rangeOf({ range, 'if-range': ifRange }: IncomingHttpHeaders, object: StoredObject): string | undefined {
  if (typeof ifRange !== 'string') return range;
  const isSame = ifRange.includes('"') ? names(ifRange, object) : isModifiedSince(ifRange, object) === false;
  return isSame ? range : undefined;
}

/**
 * Checks the conditions of a write against the object it would replace.
 * @throws S3Error `PreconditionFailed`; `NoSuchKey` when `If-Match` names a version of an object that is not there.
 */
export function checkWrite(headers: IncomingHttpHeaders, current: StoredObject | undefined): void {
  const { 'if-none-match': ifNoneMatch, 'if-match': ifMatch } = headers;
  if (ifNoneMatch !== undefined && ifNoneMatch !== '*') {
    throw new S3Error('NotImplemented', { details: { Header: 'If-None-Match' } });
  }
  if (ifNoneMatch === '*' && current) {
    throw new S3Error('PreconditionFailed', { details: { Condition: 'If-None-Match' } });
  }
  if (ifMatch === undefined) return;
  if (!current) throw new S3Error('NoSuchKey');
  if (!names(ifMatch, current)) throw new S3Error('PreconditionFailed', { details: { Condition: 'If-Match' } });
}

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
