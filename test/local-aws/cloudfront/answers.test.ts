import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ask,
  CACHE_BEHAVIOR,
  expectOwnPage,
  MINUTE_CACHE_POLICY,
  ORIGIN,
  PASS_BEHAVIOR,
  startRig,
  withFunction,
} from './rig.ts';

describe('a response headers policy', () => {
  const policy = {
    ResponseHeadersPolicyConfig: {
      Name: 'x',
      SecurityHeadersConfig: {
        ContentTypeOptions: { Override: true },
        ContentSecurityPolicy: { ContentSecurityPolicy: "default-src 'none'", Override: false },
        FrameOptions: { FrameOption: 'DENY', Override: true },
        ReferrerPolicy: { ReferrerPolicy: 'no-referrer', Override: true },
        StrictTransportSecurity: { AccessControlMaxAgeSec: 31536000, IncludeSubdomains: true, Override: true },
      },
      CustomHeadersConfig: {
        Items: [
          { Header: 'Cross-Origin-Resource-Policy', Value: 'cross-origin', Override: true },
          { Header: 'X-Kept', Value: 'policy', Override: false },
        ],
      },
      RemoveHeadersConfig: { Items: [{ Header: 'x-amz-meta-file' }] },
    },
  };
  const listener: RequestListener = (request, response) => {
    const status = Number(new URL(request.url ?? '', 'http://x').searchParams.get('status') ?? 200);
    response
      .writeHead(status, { 'x-amz-meta-file': 'account/file', 'X-Frame-Options': 'ALLOWALL', 'x-kept': 'origin' })
      .end('body');
  };
  const options = {
    config: { DefaultCacheBehavior: { ...PASS_BEHAVIOR, ResponseHeadersPolicyId: 'headers' } },
    resources: { responseHeadersPolicies: { headers: policy } },
  };

  test.each([200, 404])('sets, keeps and removes headers of a %i', async (status) => {
    const { headers } = await ask(await startRig(listener, options), `/?status=${status}`);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'",
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
      'cross-origin-resource-policy': 'cross-origin',
      'x-kept': 'origin',
      via: '1.1 local.cloudfront.net (CloudFront)',
    });
    expect(headers).not.toHaveProperty('x-amz-meta-file');
  });
});

describe('CustomErrorResponses', () => {
  const listener: RequestListener = (request, response) => {
    if (request.url === '/errors/not-found.json') {
      response
        .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
        .end('{"error":"not_found"}');
    } else {
      response.writeHead(403, { 'content-type': 'application/xml' }).end('<Error>AccessDenied</Error>');
    }
  };
  const errors = (path: string) => ({
    CustomErrorResponses: [{ ErrorCode: 403, ResponseCode: 404, ResponsePagePath: path, ErrorCachingMinTTL: 10 }],
  });

  test('a page of the distribution replaces the error of the origin, with its own status', async () => {
    const rig = await startRig(listener, { config: errors('/errors/not-found.json') });
    for (const _time of [1, 2]) {
      const reply = await ask(rig, '/uploads/gone', { headers: { range: 'bytes=0-1' } });
      expect(reply).toMatchObject({ status: 404, text: '{"error":"not_found"}' });
      expect(reply.headers).toMatchObject({ 'content-type': 'application/json', 'x-cache': 'Error from cloudfront' });
    }
  });

  test.each([
    ['a URL that is too long', 414, `/${'a'.repeat(8_192)}`, {}],
    ['a method that is not allowed', 403, '/', { method: 'TRACE' }],
    ['an origin that hangs up', 502, '/', {}],
    ['a function that fails', 503, '/fail', {}],
  ])('a page replaces CloudFront’s own error for %s', async (_name, status, path, request) => {
    const { association, resources } = withFunction(
      'viewer-request',
      'function handler(event) { if (event.request.uri === "/fail") throw 1; return event.request; }',
    );
    const rig = await startRig(
      (message, response) => (message.url === '/page' ? response.end('page') : message.socket.destroy()),
      {
        config: {
          DefaultCacheBehavior: { ...PASS_BEHAVIOR, ...association },
          CustomErrorResponses: [{ ErrorCode: status, ResponseCode: 418, ResponsePagePath: '/page' }],
        },
        resources,
      },
    );
    expect(await ask(rig, path, request)).toMatchObject({ status: 418, text: 'page' });
  });

  test('when the page cannot be fetched, the viewer gets the error of that request', async () => {
    const rig = await startRig(listener, { config: errors('/errors/gone.json') });
    expect(await ask(rig, '/x')).toMatchObject({ status: 403, text: '<Error>AccessDenied</Error>' });
  });
});

describe('errors that CloudFront makes are pages of its own', () => {
  test('an origin that cannot be reached is a 502', async () => {
    const rig = await startRig(() => {}, {
      config: { Origins: [{ ...ORIGIN, DomainName: 'down.example.com' }] },
      origins: { 'down.example.com': { port: 1 } },
    });
    const reply = await ask(rig, '/');
    expectOwnPage(reply, 502);
    expect(rig.log[0]?.failure).toContain('ECONNREFUSED');
  });

  test('an origin that hangs up is a 502', async () => {
    const rig = await startRig((request) => request.socket.destroy());
    expectOwnPage(await ask(rig, '/', { method: 'POST', body: 'x' }), 502);
  });

  test('an origin that does not answer in time is a 504', async () => {
    const slow = { ...ORIGIN, CustomOriginConfig: { OriginReadTimeout: 0.05 } };
    const rig = await startRig(() => {}, { config: { Origins: [slow] } });
    expectOwnPage(await ask(rig, '/'), 504);
  });

  test('what is not HTTP gets CloudFront’s page with status 400, even if the distribution has a page for 400', async () => {
    const CustomErrorResponses = [{ ErrorCode: 400, ResponseCode: 400, ResponsePagePath: '/page' }];
    const { port } = await startRig((_request, response) => response.end('page'), { config: { CustomErrorResponses } });
    const socket = connect(port, '127.0.0.1');
    socket.write('nonsense\r\n\r\n');
    const reply = await text(socket);
    expect(reply).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(reply).toMatch(/\r\nx-amz-cf-id: \S+\r\n/);
    expect(reply).toContain('\r\n\r\n<!DOCTYPE HTML');
    expect(reply).toContain('Generated by cloudfront (CloudFront)');
  });
});

test('no input of a viewer ends the server', async () => {
  const rig = await startRig((request, response) => void request.resume().on('end', () => response.end('ok')));
  const piece = fc.constantFrom(
    'GET ',
    'POST ',
    '/',
    '/%',
    '?',
    ' HTTP/1.1',
    '\r\n',
    '\r\n\r\n',
    'Host: x',
    'Content-Length: 3',
    'Expect: 100-continue',
    'Range: bytes=5-1',
    'Transfer-Encoding: chunked',
    '3\r\nabc\r\n',
    '0\r\n\r\n',
    'Cookie: ;=;',
    'Connection: x,close',
  );
  const bytes = fc
    .array(fc.oneof(piece, fc.string()), { maxLength: 12 })
    .map((pieces) => `GET / HTTP/1.1\r\nHost: x\r\n${pieces.join('')}\r\n`);
  await fc.assert(
    fc.asyncProperty(bytes, async (sent) => {
      const socket = connect(rig.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.end(sent, 'latin1');
      const reply = await text(socket).catch(() => '');
      expect(reply).toMatch(/^(|HTTP\/1\.1 [1-5]\d\d .*)$/s);
    }),
    { numRuns: 300 },
  );
  expect((await ask(rig, '/')).text).toBe('ok');
});

test('a target with scheme and host, as a client sends it to a proxy, is served by its path', async () => {
  const rig = await startRig((request, response) => response.end(request.url));
  expect((await ask(rig, 'http://elsewhere/a?b=1')).text).toBe('/a?b=1');
});

test('the log has one entry per request, without the query', async () => {
  const rig = await startRig((_request, response) => response.writeHead(201).end('hello'));
  await ask(rig, '/a/b?token=secret', { method: 'POST' });
  expect(rig.log).toEqual([
    { method: 'POST', path: '/a/b', status: 201, bytes: expect.any(Number), milliseconds: expect.any(Number) },
  ]);
  expect(rig.log[0]?.bytes).toBeGreaterThan(100);
});

describe('compression', () => {
  const body = 'a'.repeat(2_000);
  const base = MINUTE_CACHE_POLICY.CachePolicyConfig.ParametersInCacheKeyAndForwardedToOrigin;
  const parameters = { ...base, EnableAcceptEncodingGzip: true, EnableAcceptEncodingBrotli: true };
  const cachePolicies = {
    minute: { CachePolicyConfig: { MaxTTL: 60, ParametersInCacheKeyAndForwardedToOrigin: parameters } },
  };
  const rigFor = (headers: Record<string, string | number>, compress = true) =>
    startRig(
      (_request, response) =>
        response.writeHead(200, { 'content-length': body.length, etag: '"1"', ...headers }).end(body),
      {
        config: { DefaultCacheBehavior: { ...CACHE_BEHAVIOR, Compress: compress } },
        resources: { cachePolicies },
      },
    );
  const ACCEPT = { headers: { 'accept-encoding': 'gzip;q=0.5, br' } };

  test('text is compressed with Brotli, or with gzip for a viewer that does not accept Brotli, from the cache, too', async () => {
    const rig = await rigFor({ 'content-type': 'text/css; charset=utf-8' });
    for (const source of ['Miss', 'Hit']) {
      const reply = await ask(rig, '/', ACCEPT);
      expect(reply.headers).toMatchObject({
        'content-encoding': 'br',
        etag: 'W/"1"',
        vary: 'accept-encoding',
        'x-cache': `${source} from cloudfront`,
      });
      expect(brotliDecompressSync(reply.body).toString()).toBe(body);
    }
    const gzipped = await ask(rig, '/', { headers: { 'accept-encoding': 'gzip, br;q=0' } });
    expect(gunzipSync(gzipped.body).toString()).toBe(body);
  });

  test.each([
    ['the viewer accepts no encoding', { 'content-type': 'text/css' }, {}, true],
    ['the behavior turns it off', { 'content-type': 'text/css' }, ACCEPT, false],
    ['the type is compressed already', { 'content-type': 'image/png' }, ACCEPT, true],
    ['the origin has encoded the answer', { 'content-type': 'text/css', 'content-encoding': 'identity' }, ACCEPT, true],
    [
      'the answer is a part of the object',
      { 'content-type': 'text/css' },
      { headers: { ...ACCEPT.headers, range: 'bytes=0-1999' } },
      true,
    ],
  ])('is left out when %s', async (_name, headers, request, compress) => {
    const rig = await rigFor(headers, compress);
    await ask(rig, '/', ACCEPT);
    const reply = await ask(rig, '/', request);
    expect(reply.headers['content-length']).toBe('2000');
    expect(reply.text).toBe(body);
  });
});
