import type { IncomingHttpHeaders } from 'node:http';
import type { ByteRange, StoredObject } from './bucket-files.ts';
import { S3Error } from './s3-error.ts';

/** Whether one of the entity tags in the header is that of the object. Quotes are optional, as on S3. */
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
 * Checks the conditions of a read. `fresh` means that the caller already has this version (304).
 * @throws S3Error `PreconditionFailed`.
 * Source: RFC 9110, section 13.2.2; S3 keeps the order of precedence of that section.
 */
export function checkRead(headers: IncomingHttpHeaders, object: StoredObject): 'fresh' | 'send' {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  const { 'if-modified-since': ifModifiedSince, 'if-unmodified-since': ifUnmodifiedSince } = headers;
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
  return fresh ? 'fresh' : 'send';
}

/**
 * The bytes that `Range` asks for; `undefined` for the whole object. S3 answers with the whole object when there is no `Range`, when
 * `Range` is malformed, or when it names several ranges. S3 does the same when `If-Range` names another version of the object. It supports
 * `If-Range`, though its reference does not mention that header.
 * @throws S3Error `InvalidRange` when the range holds no byte of the object.
 * Source: RFC 9110, section 14.
 */
export function requestedRange(headers: IncomingHttpHeaders, object: StoredObject): ByteRange | undefined {
  const { range = '', 'if-range': ifRange } = headers;
  if (typeof ifRange === 'string') {
    const isSame = ifRange.includes('"') ? names(ifRange, object) : isModifiedSince(ifRange, object) === false;
    if (!isSame) return undefined;
  }
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined;
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined;
  const last = object.size - 1;
  const requested: ByteRange =
    from === ''
      ? { first: Math.max(object.size - Number(to), 0), last }
      : { first: Number(from), last: to === '' ? last : Math.min(Number(to), last) };
  if (requested.first <= requested.last) return requested;
  throw new S3Error('InvalidRange', {
    details: { RangeRequested: range, ActualObjectSize: String(object.size) },
    headers: { 'content-range': `bytes */${object.size}` },
  });
}

/**
 * Checks the conditions of a write against the object it would replace.
 * @throws S3Error `PreconditionFailed`; `NoSuchKey` when there is `If-Match` and no object; `NotImplemented` for an `If-None-Match` other
 *   than `*`.
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
