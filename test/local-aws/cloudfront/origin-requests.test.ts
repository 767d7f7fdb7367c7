import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import {
  ask,
  CACHE_BEHAVIOR,
  expectOwnPage,
  ORIGIN,
  PASS_BEHAVIOR,
  portOf,
  type RigOptions,
  startOrigin,
  startRig,
  withFunction,
} from './rig.ts';

/** An origin that answers with what it got. */
const echo: RequestListener = async (request, response) => {
  const body = await text(request);
  response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }));
};

async function received(
  path: string,
  options: Parameters<typeof ask>[2] = {},
  rigOptions: RigOptions = {},
): Promise<{ method: string; url: string; headers: IncomingHttpHeaders; body: string }> {
  return JSON.parse((await ask(await startRig(echo, rigOptions), path, options)).text);
}

describe('the headers that CloudFront itself sets:', () => {
  test('the origin gets its own host name, the proxies and the addresses of the viewer', async () => {
    const { headers } = await received('/', { headers: { 'x-forwarded-for': '203.0.113.9', via: '1.1 proxy' } });
    expect(headers).toMatchObject({
      host: 'origin.example.com',
      'x-forwarded-for': '203.0.113.9, 127.0.0.1',
      via: '1.1 proxy, 1.1 local.cloudfront.net (CloudFront)',
      'x-amz-cf-id': expect.stringMatching(/^[\w-]{56}$/),
    });
  });

  test('the origin gets the custom headers and the origin path of the distribution, whatever the viewer sends', async () => {
    const origin = {
      ...ORIGIN,
      OriginPath: '/prod',
      OriginCustomHeaders: [{ HeaderName: 'X-Origin-Secret', HeaderValue: 'real' }],
    };
    const { url, headers } = await received(
      '/health?a=1',
      { headers: { 'x-origin-secret': 'forged' } },
      { config: { Origins: [origin] } },
    );
    expect(url).toBe('/prod/health?a=1');
    expect(headers['x-origin-secret']).toBe('real');
  });

  test('headers that only CloudFront may set are dropped when a viewer sends them', async () => {
    const forged = {
      'CloudFront-Viewer-Address': '10.0.0.1:1',
      'X-Amz-Cf-Id': 'forged',
      'X-Edge-Location': 'x',
      'X-Forwarded-Proto': 'ftp',
      'X-Real-IP': '10.0.0.1',
      Connection: 'x-named, close',
      'X-Named': 'hop',
      TE: 'trailers',
    };
    const { headers } = await received('/', { headers: forged });
    for (const name of [
      'cloudfront-viewer-address',
      'x-edge-location',
      'x-forwarded-proto',
      'x-real-ip',
      'x-named',
      'te',
    ]) {
      expect(headers).not.toHaveProperty(name);
    }
    expect(headers['x-amz-cf-id']).not.toBe('forged');
  });
});

describe('the policies of a behavior', () => {
  const VIEWER = {
    headers: {
      authorization: 'Bearer k',
      cookie: 'a=1; b=2',
      'x-other': 'o',
      'user-agent': 'curl',
      range: 'bytes=0-1',
    },
  };

  test('forward the query, the cookies, and every header but Host', async () => {
    const { url, headers } = await received('/p?a=1&b=2', VIEWER);
    expect(url).toBe('/p?a=1&b=2');
    expect(headers).toMatchObject({ ...VIEWER.headers, host: 'origin.example.com' });
  });

  test('forward no query, cookies, credentials or other headers without an origin request policy', async () => {
    const { url, headers } = await received('/p?a=1', VIEWER, { config: { DefaultCacheBehavior: CACHE_BEHAVIOR } });
    expect(url).toBe('/p');
    expect(headers).toMatchObject({ 'user-agent': 'Amazon CloudFront', range: 'bytes=0-1' });
    for (const name of ['authorization', 'cookie', 'x-other']) expect(headers).not.toHaveProperty(name);
  });
});

describe('bodies', () => {
  test.each([
    ['with a length', { 'content-length': '5' }],
    ['without a length', { 'transfer-encoding': 'chunked' }],
  ])('bodies %s arrive as they were sent', async (_name, framing) => {
    const { body, headers } = await received('/', {
      method: 'POST',
      body: 'hello',
      headers: { ...framing, 'content-type': 'x/y' },
    });
    expect(body).toBe('hello');
    expect(headers).toMatchObject({ ...framing, 'content-type': 'x/y' });
  });

  test.each(['GET', 'HEAD'])('a %s with a body is refused', async (method) => {
    const rig = await startRig(echo);
    const reply = await ask(rig, '/', { method, body: 'x', headers: { 'content-length': '1' } });
    expect(reply.status).toBe(403);
    expect(rig.log[0]).toMatchObject({ method, status: 403 });
  });
});

test('a method that the behavior does not allow is refused before a function or the origin sees it', async () => {
  const { association, resources } = withFunction(
    'viewer-request',
    'function handler() { return { statusCode: 299 }; }',
  );
  const behavior = { ...PASS_BEHAVIOR, ...association, AllowedMethods: ['GET', 'HEAD'] };
  const rig = await startRig(echo, { config: { DefaultCacheBehavior: behavior }, resources });
  expectOwnPage(await ask(rig, '/', { method: 'DELETE' }), 403);
  expect((await ask(rig, '/')).status).toBe(299);
});

test('a function sends a request to another origin, with that origin’s path and headers', async () => {
  const other = await startOrigin(echo);
  const { association, resources } = withFunction(
    'viewer-request',
    `import cf from 'cloudfront';
     function handler(event) { cf.selectRequestOriginById('other'); return event.request; }`,
  );
  const otherOrigin = { ...ORIGIN, Id: 'other', DomainName: 'other.example.com', OriginPath: '/o' };
  const { url, headers } = await received(
    '/x',
    {},
    {
      config: { Origins: [ORIGIN, otherOrigin], DefaultCacheBehavior: { ...PASS_BEHAVIOR, ...association } },
      resources,
      origins: { 'other.example.com': { port: portOf(other) } },
    },
  );
  expect(url).toBe('/o/x');
  expect(headers.host).toBe('other.example.com');
});

test('an origin access control replaces the credentials of the viewer', async () => {
  const { headers } = await received(
    '/uploads/x',
    { headers: { authorization: 'Bearer viewer' } },
    {
      config: { Origins: [{ ...ORIGIN, S3OriginConfig: { OriginAccessIdentity: '' }, OriginAccessControlId: 'oac' }] },
      resources: {
        originAccessControls: {
          oac: {
            OriginAccessControlConfig: {
              Name: 'x',
              OriginAccessControlOriginType: 's3',
              SigningProtocol: 'sigv4',
              SigningBehavior: 'always',
            },
          },
        },
      },
      sign: { accessKeyId: 'EDGE', secretAccessKey: 'secret', region: 'us-east-1' },
    },
  );
  expect(headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=EDGE\/20261121\/us-east-1\/s3\/aws4_request, /);
  expect(headers).toMatchObject({
    host: 'origin.example.com',
    'x-amz-date': '20261121T120000Z',
  });
});
