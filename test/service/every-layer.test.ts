import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { ROUTES } from '../../functions/routes.ts';
import type { Route } from '../../shared/route.ts';
import { expectCloudFrontError, expectError, expectErrorPage } from '../support/expect-error.ts';
import { inChunks, rawRequest, sendRaw } from '../support/raw-http.ts';
import { borrowTestService } from '../support/service.ts';

/** Sends to every public server bytes that no client library would send. */

const service = await borrowTestService();
const account = await service.newAccount();
afterAll(() => service.close());

afterEach(async () => {
  const health = await sendRaw(service.urls.root_url, rawRequest('GET /health'));
  expect(health).toMatchObject({ status: 200, text: '{"status":"ok","db":"ok","storage":"ok"}' });
});

const send = (bytes: string | Uint8Array) => sendRaw(service.urls.root_url, bytes);
const key = () => `Authorization: Bearer ${account.key}`;
const session = () => [`Cookie: ${account.cookie}`, `Origin: ${new URL(service.urls.root_url).origin}`];
const form = 'Content-Type: multipart/form-data; boundary=B';

/** Bytes that are not HTTP, or malformed HTTP. */
const MALFORMED: readonly (readonly [what: string, bytes: string])[] = [
  ['plain text', 'hello\r\n\r\n'],
  ['a TLS handshake', `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${'\0'.repeat(50)}`],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['HTTP/0.9', 'GET /health\r\n\r\n'],
  ['HTTP/2.5', 'GET /health HTTP/2.5\r\nHost: localhost\r\n\r\n'],
  ['HTTP/1.1 without a Host', 'GET /health HTTP/1.1\r\n\r\n'],
  ['lines without CR', 'GET /health HTTP/1.1\nHost: localhost\n\n'],
  ['an unknown method', rawRequest('FROB /health')],
  ['a method in lower case', rawRequest('get /health')],
  ['CONNECT', rawRequest('CONNECT example.com:443')],
  ['OPTIONS *', rawRequest('OPTIONS *')],
  ['no target', rawRequest('GET ')],
  ['a target of another scheme', rawRequest('GET ftp://localhost/health')],
  ['a space in the path', rawRequest('GET /api/v1/files/a b')],
  ['a NUL in the path', rawRequest('GET /api/v1/files/\0')],
  ['an escape code in the path', rawRequest('GET /api/v1/files/\x1b[31m')],
  ['raw bytes in the path', rawRequest('GET /api/v1/files/\x9b31m\xff')],
  ['a path of 40,000 bytes', rawRequest(`GET /${'a'.repeat(40_000)}`)],
  ['a header of 40,000 bytes', rawRequest('GET /health', [`X-Long: ${'a'.repeat(40_000)}`])],
  ['3,000 headers', rawRequest('GET /health', Array(3_000).fill('X: 1'))],
  ['a header without a colon', rawRequest('GET /health', ['X'])],
  ['a space before the colon', rawRequest('GET /health', ['X : 1'])],
  ['a folded header', rawRequest('GET /health', ['X: 1', ' 2'])],
  ['a CR in a header', rawRequest('GET /health', ['X: a\rb'])],
  ['a control character in a header', rawRequest('GET /health', ['X: a\x01b'])],
  ['a negative length', rawRequest('POST /api/v1/files', [form, 'Content-Length: -1'])],
  ['a length that is not a number', rawRequest('POST /api/v1/files', [form, 'Content-Length: abc'])],
  ['two lengths', rawRequest('POST /api/v1/files', [form, 'Content-Length: 3', 'Content-Length: 4'], 'abcd')],
  ['a list of lengths', rawRequest('POST /api/v1/files', [form, 'Content-Length: 3, 3'], 'abc')],
  ['a length of 23 digits', rawRequest('POST /api/v1/files', [form, `Content-Length: ${'9'.repeat(23)}`], 'abc')],
  ['an unknown transfer coding', rawRequest('POST /api/v1/files', [form, 'Transfer-Encoding: gzip'], 'abc')],
  [
    'a chunk size that is not a number',
    rawRequest('POST /api/v1/files', [form, 'Transfer-Encoding: chunked'], 'zz\r\n'),
  ],
  ['a method of no standard', rawRequest('FOO /')],
  [
    'a chunk size of 18 digits',
    rawRequest('POST /api/v1/files', [form, 'Transfer-Encoding: chunked'], `${'f'.repeat(18)}\r\n`),
  ],
];

describe('bytes that are not a valid HTTP request', () => {
  test.for(MALFORMED)("%s: the answer is CloudFront's own 400", async ([, bytes]) => {
    expectCloudFrontError(await send(bytes), 400);
    expectCloudFrontError(await sendRaw(service.urls.cdn_url, bytes), 400);
  });
});

describe('an unusual but valid HTTP request', () => {
  test.for([
    ['OPTIONS', 'OPTIONS /api/v1/files', () => [], '', 'method_not_allowed'],
    ['a path with invalid percent-encoding', 'GET /%zz', () => [], '', 'not_found'],
    ['an id with invalid percent-encoding', 'GET /api/v1/files/%zz', () => [key()], '', 'not_found'],
    ['an id that is not UTF-8', 'GET /api/v1/files/%ff%00', () => [key()], '', 'not_found'],
    ['a key that is not text', 'GET /api/v1/files', () => ['Authorization: Bearer \xff\x9b'], '', 'unauthorized'],
    ['a signature of AWS', 'GET /api/v1/files', () => ['Authorization: AWS4-HMAC-SHA256 x'], '', 'unauthorized'],
    ['a signature of AWS on an unknown route', 'GET /x', () => ['Authorization: AWS4-HMAC-SHA256 x'], '', 'not_found'],
    [
      'a chunked body that is not a form',
      'POST /api/v1/api-keys',
      () => [...session(), 'Transfer-Encoding: chunked'],
      '0\r\n\r\n',
      'length_required',
    ],
    ['a file the dashboard does not have', 'GET /dashboard/favicon.ico', () => [], '', 'not_found'],
    ['a POST to the dashboard', 'POST /dashboard/', () => ['Content-Length: 3'], 'abc', 'method_not_allowed'],
  ] as const)("%s gets the contract's error", async ([, line, headers, body, code]) => {
    expectError(await send(rawRequest(line, headers(), body)), code);
  });

  test.for([
    ['TRACE', 'TRACE', ''],
    ['a method of WebDAV', 'PROPFIND', ''],
    ['a GET with a body', 'GET', 'abc'],
  ] as const)("%s is CloudFront's own 403 at the app, and our 404 at the CDN", async ([, method, body]) => {
    const length = `Content-Length: ${body.length}`;
    for (const path of ['/health', '/api/v1/files', '/dashboard/']) {
      expectCloudFrontError(await send(rawRequest(`${method} ${path}`, [key(), length], body)), 403);
    }
    const link = rawRequest(`${method} /uploads/${'A'.repeat(22)}/a`, [length], body);
    expectErrorPage(await sendRaw(service.urls.cdn_url, link), 'not_found', 404);
  });

  test("an unknown asset of the dashboard is S3's own 403", async () => {
    const answer = await send(rawRequest('GET /dashboard/assets/index-AAAAAAAA.js'));
    expect(answer?.status).toBe(403);
    expect(answer?.headers.get('content-type')).toBe('application/xml');
    expect(answer?.text).toContain('<Code>AccessDenied</Code>');
  });

  test('a URL that is too long for CloudFront is 414', async () => {
    const query = `?search=${'a'.repeat(8_192)}`;
    expectErrorPage(await send(rawRequest(`GET /api/v1/files${query}`, [key()])), 'invalid_request', 414);
    const link = rawRequest(`GET /uploads/${'A'.repeat(22)}/a${query}`);
    expectErrorPage(await sendRaw(service.urls.cdn_url, link), 'invalid_request', 414);
  });

  test.for([
    [8_000, 200],
    [10_000, 400],
    [20_000, 400],
    [31_000, 400],
  ] as const)(
    'a request with a header of %i bytes is %i, and no origin rejects it with an error of its own',
    async ([bytes, status]) => {
      const long = `X-Long: ${'a'.repeat(bytes)}`;
      const list = await send(rawRequest('GET /api/v1/files', [key(), long]));
      expect(list?.status).toBe(status);
      if (status === 400) expectError(list, 'invalid_request');
      const streamed = [key(), long, form, 'Transfer-Encoding: chunked'];
      expectError(await send(rawRequest('POST /api/v1/files', streamed, '0\r\n\r\n')), 'invalid_request');
    },
  );

  test.for([
    ['HTTP/1.0', 'GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n'],
    ['an unknown Host', 'GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n'],
    ['a whole URL as target', 'GET http://evil.example/health HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['an upgrade to WebSocket', rawRequest('GET /health', ['Connection: Upgrade', 'Upgrade: websocket'])],
    ['an upgrade to HTTP/2', rawRequest('GET /health', ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c'])],
  ] as const)('%s makes no difference to the answer', async ([, bytes]) => {
    expect(await send(bytes)).toMatchObject({ status: 200, text: '{"status":"ok","db":"ok","storage":"ok"}' });
  });

  test('every layer answers with Strict-Transport-Security', async () => {
    const ask = (line: string, ...headers: string[]) => send(rawRequest(line, headers));
    const answers = {
      function: await ask('GET /api/v1/files', key()),
      'function with an error': await ask('GET /api/v1/files'),
      'streaming server': await send(
        rawRequest('POST /api/v1/files', [key(), form, 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
      ),
      edge: await ask('GET //'),
      dashboard: await ask('GET /dashboard/'),
    };
    const received = Object.entries(answers).map(([layer, answer]) => [
      layer,
      answer?.headers.get('strict-transport-security'),
    ]);
    const always = 'max-age=63072000; includeSubDomains';
    expect(Object.fromEntries(received)).toEqual(
      Object.fromEntries(Object.keys(answers).map((layer) => [layer, always])),
    );
  });

  test.for([
    ['the API', '/api/v1/nothing'],
    ['a refusal of the edge', '/api//v1'],
    ['the description of the API', '/llms.txt'],
    ['a page of the dashboard', '/dashboard/'],
    ['an error page of the app', '/errors/invalid_request.json'],
    ['a URL that is too long', `/${'a'.repeat(9_000)}`],
    ['a link', `/uploads/${'a'.repeat(22)}/nothing`, 'cdn'],
    ['an error page of the CDN', '/errors/not_found.json', 'cdn'],
  ] as const)(
    'the answer for %s has nosniff, a Cross-Origin-Resource-Policy, and at the app a Content-Security-Policy',
    async ([, path, server]) => {
      const answer = await fetch((server === 'cdn' ? service.urls.cdn_url : service.urls.root_url) + path);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      const policy = server === 'cdn' ? 'cross-origin' : 'same-origin';
      expect(answer.headers.get('cross-origin-resource-policy')).toBe(policy);
      // A link is there to be shown in pages of every origin, so a policy of its own depends on the type of the file.
      if (server === 'cdn') return;
      const content = answer.headers.get('content-security-policy');
      for (const directive of ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"])
        expect(content).toContain(directive);
    },
  );

  test('a search with invalid percent-encoding finds nothing', async () => {
    const answer = await send(rawRequest('GET /api/v1/files?search=%zz%ff%00', [key()]));
    expect(answer).toMatchObject({ status: 200, text: '{"items":[],"page":1,"limit":50,"total":0}' });
  });
});

describe('a body of more than 10 MiB', () => {
  const BYTES = 10 * 1_024 * 1_024 + 1;
  const body = 'x'.repeat(BYTES);
  const ID = '01900000-0000-7000-8000-000000000000';
  const routes = Object.entries<Route>(ROUTES).filter(
    ([name, { method }]) => method !== 'GET' && name !== 'uploadFile',
  );

  test.for(routes)(
    'to the route %s is 401 without a credential, and 413 with one',
    async ([, { method, path, access }]) => {
      const line = `${method} ${path.replace('{id}', ID)}`;
      const credential = access === 'session' ? session() : [key()];
      const json = ['Content-Type: application/json', `Content-Length: ${BYTES}`];
      expectError(await send(rawRequest(line, [...credential, ...json], body)), 'file_too_large');
      expectError(await send(rawRequest(line, json, body)), 'unauthorized');
    },
  );

  test('to the health check, the dashboard or a link is 404 or 405', async () => {
    const length = `Content-Length: ${BYTES}`;
    expectError(await send(rawRequest('POST /health', [length], body)), 'not_found');
    expectError(await send(rawRequest('PUT /dashboard/', [length], body)), 'method_not_allowed');
    const link = `PUT /uploads/${'A'.repeat(22)}/a`;
    expectError(await sendRaw(service.urls.cdn_url, rawRequest(link, [length], body)), 'method_not_allowed');
  });
});

describe('a streaming upload that is rejected', () => {
  const stranger = `Authorization: Bearer svc_test_${'0'.repeat(49)}`;
  const begun = rawRequest('POST /api/v1/files', [stranger, form, 'Transfer-Encoding: chunked']);
  const whole = () => send(begun + inChunks('x'.repeat(100_000), 10_000));

  test('does not reach the streaming server without a well-formed credential', async () => {
    for (const credential of ['Authorization: Bearer nobody', 'Authorization: Basic eDp5', 'Cookie: session=x']) {
      const answer = await send(rawRequest('POST /api/v1/files', [credential, form, 'Transfer-Encoding: chunked']));
      expectError(answer, 'unauthorized');
      expect(answer?.headers.get('x-cache')).toBe('FunctionGeneratedResponse from cloudfront');
    }
  });

  test('is read to its end, so that the client receives the error', async () => {
    expectError(await whole(), 'unauthorized');
  });

  test('is cut when the client sends nothing', async () => {
    expect(await send(begun)).toMatchObject({ status: 503, text: '{"error":"service_unavailable"}' });
  });
});

test('the edge answers 404 to requests for /upload-stream-origin, the path of the cache behaviour of the streaming server', async () => {
  for (const line of ['GET /upload-stream-origin', 'POST /upload-stream-origin']) {
    const answer = await send(rawRequest(line, ['Content-Length: 0']));
    expectError(answer, 'not_found');
    expect(answer?.headers.get('x-cache')).toBe('FunctionGeneratedResponse from cloudfront');
  }
});

test('an upload is service_unavailable when the streaming server ends during it', async () => {
  const head = `--B\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n`;
  const lines = [key(), form, 'Transfer-Encoding: chunked'];
  // Without the last chunk, so that the server goes on waiting.
  const begun = inChunks(head, head.length).slice(0, -'0\r\n\r\n'.length);
  const admission = service.front.faults.add({ match: { table: service.tables.rateLimits }, effect: { delayMs: 1 } });
  const upload = send(rawRequest('POST /api/v1/files', lines, begun));
  await expect.poll(() => admission.hits).toBeGreaterThan(0);
  admission.remove();
  await service.stopWebFunctions();
  // CloudFront made this answer, so it has no X-Request-Id.
  expectErrorPage(await upload, 'service_unavailable', 503);
});
