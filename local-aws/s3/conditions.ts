import type { IncomingHttpHeaders } from 'node:http';
import type { BucketFiles, ByteRange, StoredObject } from './bucket-files.ts';
import { S3Error } from './s3-error.ts';
import type { S3Request } from './s3-request.ts';

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
 * Source: RFC 9110, section 13.2.2; S3 keeps the order of precedence of that section. S3 ignores `If-Modified-Since` in the future:
 * LocalStack, answer of AWS recorded for `test_upload_part_copy_with_copy_source_if_modified_since_in_future_success`.
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
      : ifModifiedSince !== undefined &&
        Date.parse(ifModifiedSince) <= Date.now() &&
        isModifiedSince(ifModifiedSince, object) === false;
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
 * The conditions of a write, to be checked before it and again in the step that makes it. They hold for the object that the write would
 * replace. If its key has changed since the write began, they fail even when they hold again.
 * @param since  when the write began: the moment of this call, or of the CreateMultipartUpload.
 * @returns a check that throws S3Error `PreconditionFailed`; `ConditionalRequestConflict`; `NoSuchKey` when there is `If-Match` and no
 *   object; `NotImplemented` for both conditions at once, and for other values than S3 takes.
 * Source: LocalStack, answers of AWS recorded for `TestS3ObjectWritePrecondition`; S3 API, `If-None-Match` of "PutObject".
 */
export function conditionOf(
  { key, headers }: Pick<S3Request, 'key' | 'headers'>,
  objects: BucketFiles,
  since = objects.moment(),
): () => void {
  const { 'if-none-match': ifNoneMatch, 'if-match': ifMatch } = headers;
  const conditions = [ifMatch !== undefined && 'If-Match', ifNoneMatch !== undefined && 'If-None-Match'].filter(
    Boolean,
  );
  const header = conditions.join(',');
  return () => {
    if (conditions.length === 0) return;
    if (ifMatch === '*' || (ifNoneMatch ?? '*') !== '*' || conditions.length > 1) {
      throw new S3Error('NotImplemented', { details: { Header: header } });
    }
    const current = objects.find(key);
    if (ifMatch !== undefined && !current) throw new S3Error('NoSuchKey', { details: { Key: key } });
    const holds = ifMatch === undefined ? !current : current && names(ifMatch, current);
    if (!holds) throw new S3Error('PreconditionFailed', { details: { Condition: header } });
    if (objects.changedAt(key) > since) {
      throw new S3Error('ConditionalRequestConflict', { details: { Condition: header, Key: key } });
    }
  };
}
