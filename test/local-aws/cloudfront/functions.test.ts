import { describe, expect, test } from 'vitest';
import { loadFunction } from '../../../local-aws/cloudfront/function-runtime.ts';
import { viewerRequestEvent } from '../../support/run-edge-function.ts';
import { ask, expectOwnPage, PASS_BEHAVIOR, type Rig, startRig, withFunction } from './rig.ts';

function rigWith(eventType: 'viewer-request' | 'viewer-response', code: string): Promise<Rig> {
  const { association, resources } = withFunction(eventType, code);
  const echo: Parameters<typeof startRig>[0] = (request, response) => {
    response.setHeader('set-cookie', ['a=1; Path=/', 'b=2']);
    response.setHeader('x-amzn-requestid', 'gateway-1');
    response.end(JSON.stringify({ url: request.url, headers: request.headers }));
  };
  return startRig(echo, { config: { DefaultCacheBehavior: { ...PASS_BEHAVIOR, ...association } }, resources });
}

describe('the event of a viewer request', () => {
  const ECHO = 'function handler(event) { return { statusCode: 200, body: JSON.stringify(event) }; }';

  test('has the shape CloudFront documents', async () => {
    const rig = await rigWith('viewer-request', ECHO);
    const headers = {
      Accept: ['a/a', 'b/b'],
      Cookie: 'id=1; t=x=y',
      'X-Real-Ip': '1.1.1.1',
      'CloudFront-Viewer-Address': '2',
    };
    const { text } = await ask(rig, '/a%20b?x=1&x=%32&flag&__proto__=p', { headers });
    const event = JSON.parse(text);
    expect(event).toMatchObject({
      version: '1.0',
      context: { eventType: 'viewer-request', requestId: expect.stringMatching(/^[\w-]{56}$/) },
      viewer: { ip: '127.0.0.1' },
      request: {
        method: 'GET',
        uri: '/a%20b',
        querystring: { x: { value: '1', multiValue: [{ value: '1' }, { value: '%32' }] }, flag: { value: '' } },
        headers: {
          accept: { value: 'a/a', multiValue: [{ value: 'a/a' }, { value: 'b/b' }] },
          host: { value: expect.any(String) },
        },
        cookies: { id: { value: '1' }, t: { value: 'x=y' } },
      },
    });
    expect(text).toContain('"__proto__":{"value":"p"}');
    expect(event.request.headers).not.toHaveProperty('cookie');
    expect(event.request.headers).not.toHaveProperty('x-real-ip');
    expect(event.request.headers).not.toHaveProperty('connection');
  });
});

describe('a viewer-request function', () => {
  test('rewrites path, query, cookies and headers', async () => {
    const rig = await rigWith(
      'viewer-request',
      `function handler(event) {
        const request = event.request;
        request.uri = '/new';
        request.querystring = { a: { value: '1', multiValue: [{ value: '1' }, { value: '2' }] } };
        request.cookies = { k: { value: 'v' } };
        request.headers['x-added'] = { value: 'yes' };
        delete request.headers['x-gone'];
        return request;
      }`,
    );
    const { text } = await ask(rig, '/old?b=3', { headers: { cookie: 'z=1', 'x-gone': 'no' } });
    const { url, headers } = JSON.parse(text);
    expect(url).toBe('/new?a=1&a=2');
    expect(headers).toMatchObject({ cookie: 'k=v', 'x-added': 'yes' });
    expect(headers).not.toHaveProperty('x-gone');
  });

  test('leaves query and cookies as they were written when it does not touch them', async () => {
    const rig = await rigWith('viewer-request', 'function handler(event) { return event.request; }');
    const { text } = await ask(rig, '/p?b=2&a=1&b=3&&c', { headers: { cookie: 'z=1;y=2' } });
    expect(JSON.parse(text)).toMatchObject({ url: '/p?b=2&a=1&b=3&&c', headers: { cookie: 'z=1; y=2' } });
  });

  test('answers by itself, in text or base64, without a request to the origin', async () => {
    const rig = await rigWith(
      'viewer-request',
      `function handler() {
        return {
          statusCode: 299,
          headers: { 'x-a': { value: '1' } },
          cookies: { s: { value: 'v', attributes: 'Path=/' } },
          body: { encoding: 'base64', data: 'aGk=' },
        };
      }`,
    );
    const reply = await ask(rig, '/');
    expect(reply).toMatchObject({ status: 299, text: 'hi' });
    expect(reply.headers).toMatchObject({
      'x-a': '1',
      'set-cookie': ['s=v; Path=/'],
      'content-length': '2',
      'x-cache': 'FunctionGeneratedResponse from cloudfront',
    });
  });

  test.each([
    ['throws', 'throw new Error("secret")', 503],
    ['loops for ever', 'for (;;) {}', 503],
    ['returns nothing', 'return', 502],
    ['waits for a promise that never settles', 'return new Promise(() => {})', 503],
    ['evaluates text as code', 'return eval("event.request")', 503],
    ['uses an API of Node', 'return process.env', 503],
    ['changes the method', 'event.request.method = "PUT"; return event.request', 502],
    ['changes Host', 'event.request.headers.host = { value: "evil" }; return event.request', 502],
    ['adds a forbidden header', 'event.request.headers["x-amz-cf-id"] = { value: "1" }; return event.request', 502],
    ['writes a header in capitals', 'event.request.headers["X-A"] = { value: "1" }; return event.request', 502],
    [
      'writes a line break into a header',
      'event.request.headers["x-a"] = { value: "1\\r\\nb: 2" }; return event.request',
      502,
    ],
    ['writes a space into the path', 'event.request.uri = "/a b"; return event.request', 502],
    ['gives a header no value', 'event.request.headers["x-a"] = {}; return event.request', 502],
    ['gives a path without a slash', 'event.request.uri = "x"; return event.request', 502],
    ['answers with an impossible status', 'return { statusCode: 900 }', 502],
    ['selects an origin that does not exist', 'cf.selectRequestOriginById("gone"); return event.request', 502],
  ])('a function that %s gives CloudFront’s page and leaves the server alive', async (_name, code, status) => {
    const rig = await rigWith('viewer-request', `import cf from 'cloudfront';\nfunction handler(event) { ${code} }`);
    const reply = await ask(rig, '/');
    expectOwnPage(reply, status);
    expect(rig.log[0]?.failure).toBeTruthy();
    expect((await ask(rig, '/')).status).toBe(status);
  });

  test('a function that sets an invalid header fails with the name of the header', async () => {
    const code = 'function handler(event) { event.request.headers["x-a"] = { value: "\\n" }; return event.request; }';
    const rig = await rigWith('viewer-request', code);
    await ask(rig, '/');
    expect(rig.log[0]?.failure).toContain('the value of x-a');
  });

  test('may be async', async () => {
    const code = `async function answer() { return { statusCode: 204 }; }
      async function handler() { return await answer(); }`;
    expect((await ask(await rigWith('viewer-request', code), '/')).status).toBe(204);
  });

  test('keeps no selected origin from one event to the next', () => {
    const code = `import cf from 'cloudfront';
      function handler(event) { if (event.request.uri === '/a') cf.selectRequestOriginById('a'); return event.request; }`;
    const runtime = loadFunction(code);
    expect(runtime.run(viewerRequestEvent('GET', '/a')).selectedOriginId).toBe('a');
    expect(runtime.run(viewerRequestEvent('GET', '/b')).selectedOriginId).toBeUndefined();
  });
});

test('the answer of a function is sent as it is: no error page, no response headers policy, no second function', async () => {
  const request = withFunction('viewer-request', 'function handler() { return { statusCode: 404, body: "own" }; }');
  const failing = { EventType: 'viewer-response', FunctionARN: 'arn:failing' };
  const custom = { Items: [{ Header: 'x-policy', Value: '1', Override: true }] };
  const rig = await startRig((_request, response) => response.end('page'), {
    config: {
      DefaultCacheBehavior: {
        ...PASS_BEHAVIOR,
        ResponseHeadersPolicyId: 'headers',
        FunctionAssociations: [...request.association.FunctionAssociations, failing],
      },
      CustomErrorResponses: [{ ErrorCode: 404, ResponseCode: 404, ResponsePagePath: '/page' }],
    },
    resources: {
      functions: { ...request.resources.functions, 'arn:failing': { code: 'function handler() { throw 1; }' } },
      responseHeadersPolicies: { headers: { ResponseHeadersPolicyConfig: { Name: 'x', CustomHeadersConfig: custom } } },
    },
  });
  const reply = await ask(rig, '/');
  expect(reply).toMatchObject({ status: 404, text: 'own' });
  expect(reply.headers).not.toHaveProperty('x-policy');
});

describe('a viewer-response function', () => {
  test('sees and changes headers and cookies, sets the body, and cannot remove the headers that it does not see', async () => {
    const rig = await rigWith(
      'viewer-response',
      `function handler(event) {
        const response = event.response;
        response.headers['x-seen'] = { value: JSON.stringify(response.cookies) + Object.keys(response.headers).indexOf('x-amzn-requestid') };
        delete response.cookies.b;
        response.statusCode = 201;
        response.body = 'other';
        return response;
      }`,
    );
    const reply = await ask(rig, '/');
    expect(reply).toMatchObject({ status: 201, text: 'other' });
    expect(reply.headers).toMatchObject({
      'x-seen': '{"a":{"value":"1","attributes":"Path=/"},"b":{"value":"2"}}-1',
      'set-cookie': ['a=1; Path=/'],
      'x-amzn-requestid': 'gateway-1',
      'content-length': '5',
    });
  });

  test('does not run for errors', async () => {
    const { association, resources } = withFunction('viewer-response', 'function handler() { throw 1 }');
    const rig = await startRig((_request, response) => response.writeHead(400).end('{"error":"invalid_request"}'), {
      config: { DefaultCacheBehavior: { ...PASS_BEHAVIOR, ...association } },
      resources,
    });
    expect(await ask(rig, '/')).toMatchObject({ status: 400, text: '{"error":"invalid_request"}' });
  });
});
