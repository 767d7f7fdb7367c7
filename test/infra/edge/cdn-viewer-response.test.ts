import type { FunctionResponse, ViewerResponseEvent } from 'cloudfront';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { edgeFunction, viewerRequestEvent } from '../../support/run-edge-function.ts';

const cdn = edgeFunction('cdn-viewer-response.js');
const INERT = "sandbox; default-src 'none'";
const PDF = "default-src 'none'; style-src 'unsafe-inline'";
const MEDIA =
  "sandbox allow-same-origin; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'";

function run(response: FunctionResponse): FunctionResponse {
  const event: ViewerResponseEvent = { ...viewerRequestEvent('GET', '/uploads/x'), response };
  return cdn.run(event).result as FunctionResponse;
}

function policyFor(contentType: string): string | undefined {
  const response = run({ statusCode: 200, headers: { 'content-type': { value: contentType } } });
  return response.headers?.['content-security-policy']?.value;
}

describe('the Content-Security-Policy', () => {
  test.each([
    ['IMAGE/JPEG', MEDIA],
    ['video/mp4; codecs="avc1"', MEDIA],
    ['image/vnd.microsoft.icon', MEDIA],
    ['image/SVG+XML; charset=utf-8', INERT],
    ['image/anything+xml', INERT],
    ['text/plain; charset=utf-8', INERT],
    ['Application/PDF; version=1.7', PDF],
    ['application/pdfx', INERT],
    ['application/x-pdf', INERT],
    ['text/html;application/pdf', INERT],
    ['application/xhtml+xml', INERT],
    ['image/', INERT],
    ['text/html;image/png', INERT],
    ['', INERT],
  ])('of the type %j is %s', (contentType, policy) => {
    expect(policyFor(contentType)).toBe(policy);
  });
});

test.each([
  ['Text/Markdown;', 'Text/Markdown; charset=utf-8'],
  ['text/csv; header=present', 'text/csv; header=present; charset=utf-8'],
  ['text/plain; charset=iso-8859-1', 'text/plain; charset=iso-8859-1'],
  ['text/plain;CHARSET="utf-8"', 'text/plain;CHARSET="utf-8"'],
  ['application/json', 'application/json'],
  ['image/png', 'image/png'],
  ['', ''],
])('the type "%s" is served as "%s"', (contentType, served) => {
  const response = run({ statusCode: 200, headers: { 'content-type': { value: contentType } } });
  expect(response.headers?.['content-type']).toEqual({ value: served });
});

test('a download has only the headers that are for its reader, and those that a function may not remove', () => {
  const forReader = [
    'accept-ranges',
    'age',
    'cache-control',
    'content-length',
    'content-range',
    'date',
    'etag',
    'last-modified',
  ];
  const byPolicy = [
    'cross-origin-resource-policy',
    'referrer-policy',
    'strict-transport-security',
    'x-content-type-options',
  ];
  const ofS3 = [
    'x-amz-replication-status',
    'x-amz-version-id',
    'x-amz-meta-file',
    'x-amz-request-id',
    'x-amz-new',
    'server',
    'expires',
  ];
  const value = { value: '1' };
  const headers = Object.fromEntries(
    [...forReader, ...byPolicy, ...ofS3, 'via', 'warning'].map((name) => [name, value]),
  );
  for (const statusCode of [200, 304]) {
    const answer = run({ statusCode, headers: { ...headers } });
    const added = Object.keys(answer.headers ?? {}).filter((name) => !/^(access-control-|content-security)/.test(name));
    expect(added.toSorted()).toEqual([...forReader, ...byPolicy, 'via', 'warning'].toSorted());
  }
});

test.each([
  ['document', 'inline', 'text/csv', 'text/plain; charset=utf-8'],
  ['iframe', 'inline; filename="a.json"', 'application/json', 'text/plain; charset=utf-8'],
  ['embed', 'inline', 'text/markdown; charset=iso-8859-1', 'text/plain; charset=iso-8859-1'],
  ['object', 'inline', 'application/x-sh', 'text/plain; charset=utf-8'],
  ['document', 'inline', 'image/png', 'image/png'],
  ['document', 'inline', 'application/pdf', 'application/pdf'],
  ['document', 'attachment', 'text/html', 'text/html; charset=utf-8'],
  ['script', 'inline', 'text/javascript', 'text/javascript; charset=utf-8'],
  ['empty', 'inline', 'application/json', 'application/json'],
  [undefined, 'inline', 'text/csv', 'text/csv; charset=utf-8'],
])('for the destination %s, an %s file of type %s is served as %s', (destination, disposition, type, served) => {
  const event = viewerRequestEvent('GET', '/uploads/x');
  if (destination) event.request.headers['sec-fetch-dest'] = { value: destination };
  const headers = { 'content-type': { value: type }, 'content-disposition': { value: disposition } };
  const answer = cdn.run({ ...event, response: { statusCode: 200, headers } }).result as FunctionResponse;
  expect(answer.headers?.['content-type']?.value).toBe(served);
  expect(answer.headers?.vary?.value).toBe(
    /^text|json|-sh/.test(type) && disposition !== 'attachment' ? 'Sec-Fetch-Dest' : undefined,
  );
});

test('text for a window has no validators, so that a browser does not confirm by it what it has for a script', () => {
  const event = viewerRequestEvent('GET', '/uploads/x');
  event.request.headers['sec-fetch-dest'] = { value: 'document' };
  const validators = { etag: { value: '"a"' }, 'last-modified': { value: 'Sun, 22 Nov 2026 08:00:00 GMT' } };
  const served = (type: string) => {
    const headers = { ...validators, 'content-type': { value: type }, 'content-disposition': { value: 'inline' } };
    return Object.keys(
      (cdn.run({ ...event, response: { statusCode: 200, headers } }).result as FunctionResponse).headers ?? {},
    );
  };
  expect(served('text/csv').filter((name) => name in validators)).toEqual([]);
  expect(served('image/png')).toEqual(expect.arrayContaining(Object.keys(validators)));
});

test('a 304 has no disposition, so that a browser keeps the one that it has, which may be that of ?download', () => {
  const headers = { etag: { value: '"a"' }, 'content-disposition': { value: 'inline' } };
  expect(run({ statusCode: 304, headers }).headers).not.toHaveProperty('content-disposition');
});

test.each([
  ['', 'inline; filename="a.png"', 'inline; filename="a.png"'],
  ['download', 'inline; filename="a.png"', 'attachment; filename="a.png"'],
  ['download', 'inline', 'attachment'],
  ['download', 'attachment; filename="inline"', 'attachment; filename="inline"'],
  ['Download', 'inline', 'inline'],
  ['download', undefined, undefined],
])('with the query "%s", the disposition %j is served as %j', (query, stored, served) => {
  const event = viewerRequestEvent('GET', '/uploads/x');
  if (query) event.request.querystring = { [query]: { value: '' } };
  const headers: FunctionResponse['headers'] = stored === undefined ? {} : { 'content-disposition': { value: stored } };
  const { result } = cdn.run({ ...event, response: { statusCode: 200, headers } });
  expect((result as FunctionResponse).headers?.['content-disposition']?.value).toBe(served);
});

describe('a precondition of the request', () => {
  const HEADERS = { etag: { value: '"b"' }, 'last-modified': { value: 'Sun, 22 Nov 2026 08:00:00 GMT' } };
  test.each([
    ['is true when there is none', {}, 200],
    ['is true when If-Match has the ETag', { 'if-match': '"b"' }, 200],
    ['is true when If-Match has the ETag after another one', { 'if-match': '"a", "b"' }, 200],
    ['is true when If-Match is *', { 'if-match': '*' }, 200],
    ['is false when If-Match has another ETag', { 'if-match': '"a"' }, 412],
    ['is false when If-Match has a weak ETag', { 'if-match': 'W/"b"' }, 412],
    ['is false when If-Match has the ETag without its quotes', { 'if-match': 'b' }, 412],
    ['is false when If-Match is empty', { 'if-match': '' }, 412],
    [
      'is false when If-Match is false and If-Unmodified-Since true',
      { 'if-match': '"a"', 'if-unmodified-since': 'Sun, 22 Nov 2026 08:00:00 GMT' },
      412,
    ],
    [
      'is true when If-Match is true and If-Unmodified-Since false',
      { 'if-match': '"b"', 'if-unmodified-since': 'Sun, 22 Nov 2026 07:59:59 GMT' },
      200,
    ],
    [
      'is true when If-Unmodified-Since is the last change',
      { 'if-unmodified-since': 'Sun, 22 Nov 2026 08:00:00 GMT' },
      200,
    ],
    [
      'is false when If-Unmodified-Since is before the last change',
      { 'if-unmodified-since': 'Sun, 22 Nov 2026 07:59:59 GMT' },
      412,
    ],
    ['is true when If-Unmodified-Since is not a time', { 'if-unmodified-since': 'yesterday' }, 200],
  ])('%s', (_name, asked, status) => {
    for (const [statusCode, expected] of [
      [200, status],
      [206, status === 200 ? 206 : 412],
      [304, status === 200 ? 304 : 412],
    ] as const) {
      const event = viewerRequestEvent('GET', '/uploads/x', asked as Record<string, string>);
      const response: FunctionResponse = { statusCode, headers: HEADERS };
      expect(cdn.run({ ...event, response }).result).toMatchObject({ statusCode: expected });
    }
  });

  test('is true when it is true for one of several header lines', () => {
    const event = viewerRequestEvent('GET', '/uploads/x');
    event.request.headers['if-match'] = { value: '"a"', multiValue: [{ value: '"a"' }, { value: '"b"' }] };
    expect(cdn.run({ ...event, response: { statusCode: 200, headers: HEADERS } }).result).toMatchObject({
      statusCode: 200,
    });
  });
});

test('a range gets the policy of its type, and a response without a type gets the strict one', () => {
  const part = run({ statusCode: 206, headers: { 'content-type': { value: 'video/mp4' } } });
  expect(part.headers?.['content-security-policy']).toEqual({ value: MEDIA });
  expect(run({ statusCode: 200 }).headers).toMatchObject({ 'content-security-policy': { value: INERT } });
});

test('a 304 gets no policy, so that the browser keeps the one that it has', () => {
  const notModified = { statusCode: 304, headers: { etag: { value: '"1"' } } };
  expect(run(notModified)).toMatchObject(notModified);
  expect(run(notModified).headers).not.toHaveProperty('content-security-policy');
});

test('a policy of the object itself is replaced', () => {
  const own = { 'content-type': { value: 'text/html' }, 'content-security-policy': { value: 'script-src *' } };
  expect(run({ statusCode: 200, headers: own }).headers?.['content-security-policy']).toEqual({ value: INERT });
});

test('the function never throws, and no type gets a policy that allows a script', () => {
  const type = fc.oneof(
    fc.string(),
    fc.tuple(fc.constantFrom('image', 'text', 'video'), fc.string()).map(([kind, rest]) => `${kind}/${rest}`),
  );
  fc.assert(
    fc.property(type, (contentType) => {
      expect([INERT, MEDIA, PDF]).toContain(policyFor(contentType));
    }),
    { numRuns: 1_000 },
  );
});
