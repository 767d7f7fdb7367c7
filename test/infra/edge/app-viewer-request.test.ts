import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { INLINE_BODY_MAX_BYTES, MULTIPART_FRAMING_MAX_BYTES } from '../../../shared/contract/limits.ts';
import { parseCookies, sessionTokenIn } from '../../../shared/http/cookies.ts';
import { hashToken } from '../../../shared/sessions/session.ts';
import { APP_CONSTANTS, edgeFunction, summary, viewerRequestEvent } from '../../support/run-edge-function.ts';

const DASHBOARD_FILES = 'app.js|index.html';
const TEXTS = '/llms.txt|/.well-known/security.txt';
const app = edgeFunction('app-viewer-request.js', { ...APP_CONSTANTS, DASHBOARD_FILES, TEXTS });
const LONGEST = APP_CONSTANTS.MAX_UPLOAD_SIZE_BYTES + MULTIPART_FRAMING_MAX_BYTES;
const KEY = { authorization: `Bearer svc_test_${'x'.repeat(49)}` };
const TOKEN = 'T'.repeat(43);
const FORM = { ...KEY, 'content-type': 'multipart/form-data; boundary=b' };
const JSON_BODY = { ...KEY, 'content-type': 'application/json' };

/** Runs the function. @returns its result as {@link summary} describes it. */
function decide(method: string, uri: string, headers: Record<string, string> = {}): string {
  return summary(app.run(viewerRequestEvent(method, uri, headers)));
}

describe('POST /api/v1/files', () => {
  test.each([
    ['an empty form', '/api/v1/files from the origin default', { ...FORM, 'content-length': '0' }],
    [
      'the longest inline form',
      '/api/v1/files from the origin default',
      { ...FORM, 'content-length': `${INLINE_BODY_MAX_BYTES}` },
    ],
    [
      'the shortest streaming form',
      '/api/v1/files from the origin upload-stream',
      { ...FORM, 'content-length': `${INLINE_BODY_MAX_BYTES + 1}` },
    ],
    ['the longest form', '/api/v1/files from the origin upload-stream', { ...FORM, 'content-length': `${LONGEST}` }],
    ['a form one byte too long', '413 {"error":"file_too_large"}', { ...FORM, 'content-length': `${LONGEST + 1}` }],
    [
      'a form without a length',
      '/api/v1/files from the origin upload-stream',
      { ...FORM, 'transfer-encoding': 'chunked' },
    ],
    ['a form without any framing header', '/api/v1/files from the origin upload-stream', FORM],
    [
      'an oddly written type',
      '/api/v1/files from the origin upload-stream',
      { ...KEY, 'content-type': ' Multipart/Form-DATA ;boundary=b', 'content-length': '5000000' },
    ],
    [
      'another multipart type',
      '415 {"error":"unsupported_media_type"}',
      { ...KEY, 'content-type': 'multipart/form-database', 'content-length': '5000000' },
    ],
    ['JSON', '/api/v1/files from the origin default', { ...JSON_BODY, 'content-length': '80' }],
    ['JSON over 4 MiB', '415 {"error":"unsupported_media_type"}', { ...JSON_BODY, 'content-length': '4194305' }],
    ['JSON without a length', '411 {"error":"length_required"}', { ...JSON_BODY, 'transfer-encoding': 'chunked' }],
    ['a long body without a type', '415 {"error":"unsupported_media_type"}', { ...KEY, 'content-length': '5000000' }],
    ['a short body without a type', '/api/v1/files from the origin default', { ...KEY, 'content-length': '5' }],
    ['a length that is not a number', '400 {"error":"invalid_request"}', { ...FORM, 'content-length': '1e3' }],
    ['a negative length', '400 {"error":"invalid_request"}', { ...FORM, 'content-length': '-1' }],
  ])('a request with %s gets %s', (_name, expected, headers) => {
    expect(decide('POST', '/api/v1/files', headers)).toBe(expected);
  });

  test.each([
    ['no credential', '401 {"error":"unauthorized"}', {}],
    ['another cookie', '401 {"error":"unauthorized"}', { cookie: 'theme=dark' }],
    ['a session', '413 {"error":"file_too_large"}', { cookie: '__Host-session=x' }],
    ['a local session', '413 {"error":"file_too_large"}', { cookie: 'session=x' }],
    ['an authorization', '413 {"error":"file_too_large"}', KEY],
  ])('a form that is too long, with %s, is %s', (_name, expected, headers) => {
    const form = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': `${LONGEST + 1}` };
    expect(decide('POST', '/api/v1/files', { ...form, ...headers })).toBe(expected);
  });

  test('a form over 4 MiB is 401 with foreign cookies alone', () => {
    const cookie = 'session=foreign; __Host-session=foreign';
    const form = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': '5000000', cookie };
    expect(decide('POST', '/api/v1/files', form)).toBe('401 {"error":"unauthorized"}');
  });

  test('a form over 4 MiB is streamed with every cookie in which the API finds a session', () => {
    const cookie = fc
      .tuple(
        fc.constantFrom('session', '__Host-session', 'other'),
        fc.constantFrom(TOKEN, 'foreign', '', `"${TOKEN}"`, 'a=b'),
      )
      .map((pair) => pair.join('='));
    fc.assert(
      fc.property(
        fc.array(cookie, { maxLength: 5 }),
        fc.constantFrom('http://localhost:8787', 'https://app.example.org'),
        (pairs, appUrl) => {
          fc.pre(hashToken(sessionTokenIn(parseCookies([pairs.join('; ')]), appUrl) ?? '') !== undefined);
          const form = { 'content-type': 'multipart/form-data; boundary=b', cookie: pairs.join('; ') };
          expect(decide('POST', '/api/v1/files', form)).toBe('/api/v1/files from the origin upload-stream');
        },
      ),
    );
  });

  test.each([
    [
      'the longest inline form',
      '/api/v1/files from the origin default',
      { 'content-length': `${INLINE_BODY_MAX_BYTES}` },
    ],
    ['a longer form', '413 {"error":"file_too_large"}', { 'content-length': `${INLINE_BODY_MAX_BYTES + 1}` }],
    ['a form without a length', '411 {"error":"length_required"}', { 'transfer-encoding': 'chunked' }],
  ])('without streaming uploads, a request with %s gets %s', (_name, expected, headers) => {
    const inlineOnly = edgeFunction('app-viewer-request.js', { ...APP_CONSTANTS, STREAMING_UPLOADS: false });
    expect(summary(inlineOnly.run(viewerRequestEvent('POST', '/api/v1/files', { ...FORM, ...headers })))).toBe(
      expected,
    );
  });
});

describe('a request to another route', () => {
  const LONG = { ...FORM, 'content-length': `${INLINE_BODY_MAX_BYTES + 1}` };
  test.each([
    ['GET', '/api/v1/files', 'no headers', '/api/v1/files from the origin default', {}],
    ['GET', '/health', 'no headers', '/health from the origin default', {}],
    ['GET', '/nothing', 'no headers', '/nothing from the origin default', {}],
    ['POST', '/', 'no headers', '/ from the origin default', {}],
    ['POST', '/api/v1/auth/logout', 'no headers', '/api/v1/auth/logout from the origin default', {}],
    [
      'POST',
      '/api/v1/api-keys',
      'JSON of 4 MiB',
      '/api/v1/api-keys from the origin default',
      { ...JSON_BODY, 'content-length': '4194304' },
    ],
    ['POST', '/api/v1/api-keys', 'a long body', '413 {"error":"file_too_large"}', LONG],
    [
      'POST',
      '/api/v1/api-keys',
      'a form without a length',
      '411 {"error":"length_required"}',
      { ...FORM, 'transfer-encoding': 'chunked' },
    ],
    ['POST', '/nothing', 'a long body', '404 {"error":"not_found"}', LONG],
    ['PUT', '/api/v1/files', 'a long body', '413 {"error":"file_too_large"}', LONG],
    ['POST', '/api/v1/uploads/0/complete', 'a long body', '413 {"error":"file_too_large"}', LONG],
    ['POST', '/upload-stream%2Dorigin', 'a form', '404 {"error":"not_found"}', FORM],
  ])('%s %s with %s gets %s', (method, uri, _name, expected, headers) => {
    expect(decide(method, uri, headers)).toBe(expected);
  });
});

describe('an unusual form of a path is made canonical or rejected:', () => {
  const STREAMED = { ...FORM, 'content-length': '50000000' };
  test.each([
    ['/api/v1/%66iles', '/api/v1/files from the origin upload-stream'],
    ['/%61pi/v1/f%69les', '/api/v1/files from the origin upload-stream'],
    ['/api/v1/files/', '404 {"error":"not_found"}'],
    ['/api/v1//files', '404 {"error":"not_found"}'],
    ['//api/v1/files', '404 {"error":"not_found"}'],
    ['/api/v1/./files', '404 {"error":"not_found"}'],
    ['/api/v1/%2e/files', '404 {"error":"not_found"}'],
    ['/api/v1/x/../files', '404 {"error":"not_found"}'],
    ['/api/v1/x/%2E%2e/files', '404 {"error":"not_found"}'],
    ['/dashboard/../api/v1/files', '404 {"error":"not_found"}'],
    ['/api/v1/files/..', '404 {"error":"not_found"}'],
    ['/api/v1%2ffiles', '404 {"error":"not_found"}'],
    ['/api/v1/FILES', '413 {"error":"file_too_large"}'],
    ['/api/v1/files%00', '413 {"error":"file_too_large"}'],
    ['/api/v1/%2566iles', '413 {"error":"file_too_large"}'],
    ['/api/v1/%2%65%2%65/files', '404 {"error":"not_found"}'],
    ['/api/v1/%%366iles', '404 {"error":"not_found"}'],
    ['/api/v1/files%', '404 {"error":"not_found"}'],
    ['api/v1/files', '404 {"error":"not_found"}'],
  ])('%s gets %s', (uri, expected) => {
    expect(decide('POST', uri, STREAMED)).toBe(expected);
  });

  test('a path of up to 512 characters is decoded, and a longer one is 404', () => {
    const path = (length: number) => `/api/v1/files/${'%61'.repeat(166)}`.padEnd(length, 'x');
    expect(decide('GET', path(512))).toBe(`/api/v1/files/${'a'.repeat(166)} from the origin default`);
    expect(decide('GET', path(513))).toBe('404 {"error":"not_found"}');
    expect(decide('GET', path(7_000))).toBe('404 {"error":"not_found"}');
  });

  test('unreserved characters of an id reach the API decoded', () => {
    expect(decide('GET', '/api/v1/files/%30193-a%7e%20')).toBe('/api/v1/files/0193-a~%20 from the origin default');
  });
});

test.each([
  ['GET', '/llms.txt', '/texts/llms.txt from the origin default'],
  ['HEAD', '/llms.txt', '/texts/llms.txt from the origin default'],
  ['GET', '/.well-known/security.txt', '/texts/security.txt from the origin default'],
  ['GET', '/.well-known', '/.well-known from the origin default'],
  ['POST', '/llms.txt', '405 {"error":"method_not_allowed"}'],
  ['GET', '/api/v1/openapi.json', '/api/v1/openapi.json from the origin default'],
  ['DELETE', '/api/v1/openapi.json', '405 {"error":"method_not_allowed"}'],
])(
  'a file that describes the service is served from its folder, only for GET and HEAD: %s %s gets %s',
  (method, uri, expected) => {
    expect(decide(method, uri)).toBe(expected);
  },
);

describe('a path of the dashboard', () => {
  test.each([
    ['GET', '/', '302 /dashboard/'],
    ['HEAD', '/', '302 /dashboard/'],
    ['GET', '/dashboard', '302 /dashboard/'],
    ['GET', '/dashboard/', '/dashboard/index.html from the origin default'],
    ['GET', '/dashboard/login', '/dashboard/index.html from the origin default'],
    ['GET', '/dashboard/api-keys/', '/dashboard/index.html from the origin default'],
    ['GET', '/dashboard/assets/index-BE-GUAQr.css', '/assets/index-BE-GUAQr.css from the origin default'],
    ['GET', '/dashboard/assets/app.js', '404 {"error":"not_found"}'],
    ['GET', '/dashboard/assets/x/app-12345678.js', '404 {"error":"not_found"}'],
    ['GET', '/assets/index-BE-GUAQr.css', '/assets/index-BE-GUAQr.css from the origin default'],
    ['GET', '/dashboard/%61pp.js', '/dashboard/app.js from the origin default'],
    ['GET', '/dashboard/app.json', '404 {"error":"not_found"}'],
    ['GET', '/dashboard/login/app.js', '404 {"error":"not_found"}'],
    ['GET', '/dashboard/app.js|index.html', '404 {"error":"not_found"}'],
    ['GET', '/dashboards', '404 {"error":"not_found"}'],
    ['GET', '/dashboard//x', '404 {"error":"not_found"}'],
    ['POST', '/dashboard', '405 {"error":"method_not_allowed"}'],
    ['POST', '/dashboard/login', '405 {"error":"method_not_allowed"}'],
  ])('%s %s gets %s', (method, uri, expected) => {
    expect(decide(method, uri)).toBe(expected);
  });
});

test.each([
  ['GET', '/api/v1/files', {}, '/api/v1/files from the origin default'],
  ['POST', '/api/v1/files', { ...FORM, 'transfer-encoding': 'chunked' }, '/api/v1/files from the origin upload-stream'],
  ['GET', '/dashboard/', {}, '/dashboard/index.html from the origin default'],
] as const)('%s %s with more than 9 KiB of headers is 400', (method, uri, headers, expected) => {
  // One KiB is enough for the request without the padding.
  expect(decide(method, uri, { ...headers, 'x-padding': 'x'.repeat(8 * 1_024) })).toBe(expected);
  expect(decide(method, uri, { ...headers, 'x-padding': 'x'.repeat(9 * 1_024) })).toBe(
    '400 {"error":"invalid_request"}',
  );
  expect(decide(method, uri, { ...headers, cookie: `c=${'x'.repeat(9 * 1_024)}` })).toBe(
    '400 {"error":"invalid_request"}',
  );
});

test('the function never throws, and keeps the method and the headers of a request that it forwards', () => {
  const headerName = fc.constantFrom('content-length', 'content-type', 'transfer-encoding', 'authorization', 'x-other');
  const piece = fc.constantFrom(
    '/',
    '//',
    '.',
    '..',
    '%',
    '%2e',
    '%66',
    '%zz',
    'api',
    'v1',
    'files',
    'dashboard',
    '\\',
    '\u0000',
    'é',
  );
  const uri = fc.oneof(
    fc.string(),
    fc.array(piece).map((pieces) => `/${pieces.join('')}`),
  );
  const headers = fc.dictionary(headerName, fc.oneof(fc.string(), fc.nat().map(String)));
  fc.assert(
    fc.property(fc.constantFrom('GET', 'POST', 'PUT', 'X'), uri, headers, (method, path, given) => {
      const { result } = app.run(viewerRequestEvent(method, path, given));
      if (!('statusCode' in (result as object)))
        expect(result).toMatchObject({
          method,
          headers: Object.fromEntries(Object.entries(given).map(([name, value]) => [name, { value }])),
        });
    }),
    { numRuns: 1_000 },
  );
});
