import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { ROUTES } from '../../functions/routes.ts';
import { JSON_BODY_MAX_BYTES } from '../../shared/contract/limits.ts';
import { methodsOf } from '../../shared/contract/route.ts';
import type { Route } from '../../shared/route.ts';
import { type Answer, client } from '../support/client.ts';
import { expectError } from '../support/expect-error.ts';
import { expectNoTrace } from '../support/expect-no-trace.ts';
import { FORM, filePart } from '../support/forms.ts';
import { askForTicket, complete, put } from '../support/lanes.ts';
import { rawRequest, sendRaw } from '../support/raw-http.ts';
import { borrowTestService } from '../support/service.ts';

const service = await borrowTestService();
const account = await service.newAccount();
afterAll(() => service.close());

const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';

const pathOf = (route: Route) => route.path.replace('{id}', UNKNOWN_ID).replace('/api/v1', '');
const guarded = Object.values<Route>(ROUTES).filter(({ access }) => access !== 'public');

describe('contract: errors', () => {
  test('an error of a function or of the edge has only its code', async () => {
    const { byKey, bySession } = account;
    expectError(await byKey.request('GET', `/files/${UNKNOWN_ID}`), 'not_found', 404);
    expectError(await byKey.request('GET', '/files?page=0'), 'invalid_request', 400);
    expectError(await byKey.request('GET', '//files'), 'not_found', 404);
    expectError(await bySession.postJson('/api-keys', { name: 'x'.repeat(5_000_000) }), 'file_too_large', 413);
  });

  test('a refusal says in Error-Detail what is wrong, and a failure of ours says nothing', async () => {
    const { byKey, bySession } = account;
    const ticket = { name: 'a', mime_type: 'text/plain', size_bytes: 1 };
    const stranger = client(service.urls.base_url, { key: 'svc_test_wrong' });
    for (const [answer, detail] of [
      [await byKey.request('GET', '/files?page=0'), /^the parameter page is not a whole number from 1 to \d+$/],
      [await byKey.postJson('/uploads', { ...ticket, mime_type: 1 }), /^mime_type is missing or is not a text$/],
      [await byKey.postJson('/uploads', { ...ticket, size_bytes: 2 ** 40 }), /bytes=1099511627776; limit_bytes=\d+$/],
      [await bySession.postJson('/api-keys', { name: '' }), /^the name of the key is empty/],
      [await stranger.request('GET', '/files'), /^the Authorization header has no well-formed key$/],
    ] as const) {
      expect(answer.headers.get('error-detail') ?? '').toMatch(detail);
      expect(answer.status).toBeLessThan(500);
    }
    for (const route of guarded.filter(({ path }) => path.includes('{id}'))) {
      const by = route.access === 'session' ? bySession : byKey;
      const unknown = await by.request(route.method, pathOf(route));
      expect(unknown.headers.get('error-detail')).toMatch(/^the account has no such (file|ticket|key|session)$/);
      const wrong = await by.request('PATCH', pathOf(route));
      expect(wrong.headers.get('error-detail')).toBe(`the path takes only ${wrong.headers.get('allow')}`);
    }
    const nowhere = await byKey.request('GET', '/nothing');
    expect(nowhere.headers.get('error-detail')).toBe('the API has no such path');
    const match = { service: 'dynamodb', operation: 'GetItem', table: service.tables.files } as const;
    const fault = service.front.faults.add({ match, effect: 'error-before' });
    const failed = await byKey.request('GET', `/files/${UNKNOWN_ID}`);
    fault.remove();
    expect([failed.status, failed.headers.get('error-detail')]).toEqual([503, null]);
  });

  test('a successful answer has a request id, too', async () => {
    const answer = await account.byKey.request('GET', '/files');
    expect([answer.status, answer.headers.get('x-request-id') ?? '']).toEqual([200, expect.stringMatching(/\S/)]);
  });

  test('a failure of the database is service_unavailable with Retry-After', async () => {
    const match = { service: 'dynamodb', operation: 'GetItem', table: service.tables.files } as const;
    const fault = service.front.faults.add({ match, effect: 'error-before' });
    const answer = await account.byKey.request('GET', `/files/${UNKNOWN_ID}`);
    fault.remove();
    expectError(answer, 'service_unavailable', 503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('a function that is killed during a request answers service_unavailable, and the next request succeeds', async () => {
    const answer = await answerOfKilledFunction();
    expectError(answer, 'service_unavailable', 503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expectError(await account.byKey.request('GET', `/files/${UNKNOWN_ID}`), 'not_found', 404);
  });
});

/** The gateway's own answer when a function ends during a request. */
async function answerOfKilledFunction(): Promise<Answer> {
  const reached = Promise.withResolvers<void>();
  const fault = service.front.faults.add({
    match: {
      service: 'dynamodb',
      table: service.tables.files,
      predicate: () => {
        reached.resolve();
        return true;
      },
    },
    effect: 'timeout',
  });
  const request = account.byKey.request('GET', `/files/${UNKNOWN_ID}`);
  await reached.promise;
  await service.lambda.killEnvironments(service.lambda.find('GetFileFunction').arn);
  fault.remove();
  return request;
}

describe('contract: codes', () => {
  test('an unknown route is 404 with any method and credential', async () => {
    for (const path of ['/nothing', '/files/a/b/c', '/api-keys/a/b', '/auth', '/filesystem']) {
      for (const method of ['GET', 'POST', 'DELETE', 'PUT', 'PATCH']) {
        expectError(await account.byKey.request(method, path), 'not_found', 404);
      }
    }
    expectError(await client(service.urls.root_url).request('GET', '/nothing'), 'not_found', 404);
  });

  test('a known route with an unsupported method is 405, and Allow lists its methods', async () => {
    const paths = new Set(Object.values<Route>(ROUTES).map(({ path }) => path));
    for (const path of paths) {
      const methods = Object.values<Route>(ROUTES).flatMap((route) => (route.path === path ? methodsOf(route) : []));
      const answer = await client(service.urls.root_url).request('PATCH', path.replace('{id}', UNKNOWN_ID));
      expectError(answer, 'method_not_allowed', 405);
      expect(answer.headers.get('allow')?.split(', ').sort()).toEqual([...methods].sort());
    }
  });

  test('a body with an unsupported Content-Type is 415', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '']) {
      const json = { body: '{"name":"a","mime_type":"a/b","size_bytes":1}', headers: { 'content-type': type } };
      expectError(await account.byKey.request('POST', '/uploads', json), 'unsupported_media_type', 415);
      const init = { body: 'name=x', headers: { 'content-type': type } };
      expectError(await account.byKey.request('POST', '/files', init), 'unsupported_media_type', 415);
      expectError(await account.bySession.request('POST', '/api-keys', init), 'unsupported_media_type', 415);
    }
  });

  test('a file sent as the body itself, without a form, is 415 at any size', async () => {
    for (const size of [10, 6_000_000]) {
      const init = { body: Buffer.alloc(size), headers: { 'content-type': 'application/octet-stream' } };
      expectError(await account.byKey.request('POST', '/files', init), 'unsupported_media_type', 415);
    }
  });

  test('a compressed body is 415 with Accept-Encoding: identity, and stores nothing', async () => {
    const form = gzipSync(`${filePart()}--B--`);
    const json = gzipSync('{"name":"a.txt","mime_type":"text/plain","size_bytes":1}');
    const bodies = [
      { type: FORM, body: form },
      { type: FORM, body: Buffer.concat([form, Buffer.alloc(5_000_000)]) },
      { type: FORM, body: () => new Blob([form]).stream(), duplex: 'half' as const },
    ];
    const fresh = await service.newAccount();
    for (const encoding of ['gzip', 'identity, br', 'unknown']) {
      for (const { type, body, ...rest } of bodies) {
        const headers = { 'content-type': type, 'content-encoding': encoding };
        const init = { ...rest, headers, body: typeof body === 'function' ? body() : body };
        const answer = await fresh.byKey.request('POST', '/files', init);
        expectError(answer, 'unsupported_media_type', 415);
        expect(answer.headers.get('accept-encoding')).toBe('identity');
        expect(answer.headers.get('ratelimit')).toMatch(/^"uploads"/);
      }
      const init = { headers: { 'content-type': 'application/json', 'content-encoding': encoding }, body: json };
      for (const path of ['/api-keys', '/uploads']) {
        expectError(await fresh.bySession.request('POST', path, init), 'unsupported_media_type', 415);
      }
    }
    await expectNoTrace(service, fresh);
  });

  test('a body with Content-Encoding: identity is accepted', async () => {
    const headers = { 'content-type': FORM, 'content-encoding': 'Identity' };
    const answer = await account.byKey.request('POST', '/files', { headers, body: `${filePart()}--B--` });
    expect(answer.status).toBe(201);
  });

  test('a malformed body is 400', async () => {
    const headers = { 'content-type': 'application/json' };
    for (const body of ['', '{', '[]', 'null', '"name"', '{"name":1}', '{"name":""}', '{}', '\u0000']) {
      expectError(await account.bySession.request('POST', '/api-keys', { body, headers }), 'invalid_request', 400);
      expectError(await account.byKey.request('POST', '/uploads', { body, headers }), 'invalid_request', 400);
    }
  });

  test.for([
    [JSON_BODY_MAX_BYTES, 201],
    [JSON_BODY_MAX_BYTES + 1, 413],
  ] as const)('a JSON body of %i bytes is %i', async ([bytes, status]) => {
    const init = { body: '{"name":"k"}'.padEnd(bytes), headers: { 'content-type': 'application/json' } };
    expect((await account.bySession.request('POST', '/api-keys', init)).status).toBe(status);
  });

  test('a body without a length is 411, unless it is a form', async () => {
    const stream = () => new Blob(['{"name":"k"}']).stream();
    const init = { duplex: 'half', headers: { 'content-type': 'application/json' } } as const;
    for (const path of ['/api-keys', '/files', '/uploads']) {
      const answer = await account.bySession.request('POST', path, { ...init, body: stream() });
      expectError(answer, 'length_required', 411);
    }
  });
});

describe('contract: ids', () => {
  test('an id in upper case or percent-encoded is the same id, in every route, and that of a form is no upload', async () => {
    const fresh = await service.newAccount();
    const upper = (id: unknown) => String(id).toUpperCase();
    const { body: file } = await fresh.byKey.upload('a.txt', 'hello');
    const read = await fresh.byKey.request('GET', `/files/${upper(file.id)}`);
    expect([read.status, read.body]).toEqual([200, file]);
    const encoded = String(file.id).replaceAll('-', '%2D').replaceAll('a', '%61');
    expect((await fresh.byKey.request('GET', `/files/${encoded}`)).body).toEqual(file);
    expectError(await complete(fresh.byKey, { id: String(file.id) }), 'not_found', 404);
    const { body: arrived } = await askForTicket(fresh.byKey, 'b.txt', 5);
    expect(await put(arrived, 'hello')).toBe(200);
    expect((await complete(fresh.byKey, { id: upper(arrived.id) })).body).toMatchObject({ id: arrived.id });
    const { body: open } = await askForTicket(fresh.byKey, 'c.txt', 5);
    const { body: key } = await fresh.bySession.postJson('/api-keys', { name: 'k' });
    for (const [by, path, id] of [
      [fresh.byKey, '/uploads', open.id],
      [fresh.byKey, '/files', file.id],
      [fresh.bySession, '/api-keys', key.id],
    ] as const) {
      const { status, body } = await by.request('DELETE', `${path}/${upper(id)}`);
      expect([status, body]).toEqual([200, { id, deleted: true }]);
    }
  });
});

describe('contract: paths', () => {
  test.for(['//files', '/files/', '/files/%2e%2e/usage', '/files/%2%65%2%65/usage', '/files/100%'])(
    'a path without a canonical form is 404, also without a credential: %s',
    async (path) => {
      // fetch would resolve the dots.
      for (const headers of [[], [`Authorization: Bearer ${account.key}`]]) {
        const answer = await sendRaw(service.urls.root_url, rawRequest(`GET /api/v1${path}`, headers));
        expect([answer?.status, answer?.text]).toEqual([404, '{"error":"not_found"}']);
      }
    },
  );
});

describe('contract: optional fields', () => {
  test('null for an optional field of a JSON body is the same as its absence, and no value of a required one', async () => {
    const request = { name: 'a.txt', mime_type: 'text/plain', size_bytes: 1 };
    const optional = await account.byKey.postJson('/uploads', { ...request, checksum_sha256: null, other: null });
    expect(optional.status).toBe(202);
    for (const name of Object.keys(request)) {
      expectError(await account.byKey.postJson('/uploads', { ...request, [name]: null }), 'invalid_request', 400);
    }
    expectError(await account.bySession.postJson('/api-keys', { name: null }), 'invalid_request', 400);
  });
});

describe('contract: order of checks', () => {
  test('every guarded route is 401 without a credential, before the rest of the request is checked', async () => {
    for (const route of guarded) {
      const bad = { body: route.method === 'GET' ? undefined : '{' };
      const answer = await client(service.urls.base_url).request(route.method, `${pathOf(route)}?page=zero`, bad);
      expectError(answer, 'unauthorized', 401);
    }
  });

  test('a body too large for any function is 413, but only after route and credential are checked', async () => {
    const init = { body: 'x'.repeat(5_000_000), headers: { 'content-type': 'application/json' } };
    expectError(await client(service.urls.root_url).request('POST', '/nothing', init), 'not_found', 404);
    expectError(await client(service.urls.base_url).request('POST', '/files', init), 'unauthorized', 401);
    expectError(await account.byKey.request('POST', '/files', init), 'unsupported_media_type', 415);
    expectError(await account.byKey.request('POST', '/uploads', init), 'file_too_large', 413);
  });

  test('a cross-site request with a cookie is 403 before it is counted and its body is checked', async () => {
    const foreign = client(service.urls.base_url, { cookie: account.cookie });
    for (const route of guarded.filter(({ method }) => method !== 'GET')) {
      const init = { headers: { origin: 'https://evil.example' }, body: route.method === 'GET' ? undefined : '{' };
      const answer = await foreign.request(route.method, pathOf(route), init);
      expectError(answer, 'forbidden', 403);
      expect(answer.headers.get('ratelimit')).toBeNull();
    }
  });
});

describe('contract: edge', () => {
  test('a request that bypasses CloudFront is 403, and no function runs', async () => {
    const gateway = service.gatewayUrl.replace(/\/$/, '');
    const requests: string[] = [];
    for (const path of ['/health', '/api/v1/files', '/api/v1/auth/google', '/nothing', '/']) {
      for (const headers of [{}, { 'x-api-key': 'a-key-that-somebody-guessed' }, { 'x-origin-secret': 'guessed' }]) {
        for (const method of ['GET', 'POST', 'DELETE', 'PATCH']) {
          const by = client(gateway, { key: account.key });
          const answer = await by.request(method, path, { headers: { ...headers } as Record<string, string> });
          expectError(answer, 'forbidden', 403);
          requests.push(answer.headers.get('x-request-id') ?? '');
        }
      }
    }
    // A function logs every request, so without such a line no function ran.
    expect(service.logs.filter((line) => requests.some((id) => line.includes(id)))).toEqual([]);
  });

  test("a client's own X-Api-Key neither replaces nor breaks the key that CloudFront sends", async () => {
    const headers = { 'x-api-key': 'a-key-that-somebody-guessed' };
    expect((await account.byKey.request('GET', '/files', { headers })).status).toBe(200);
  });
});

describe('contract: head', () => {
  test('HEAD is answered wherever GET is, with the same status and headers and no body', async () => {
    // These headers are equal in two answers to the same request.
    const compared = ['content-type', 'content-length', 'ratelimit-policy', 'cache-control', 'location'];
    const { body: file } = await account.byKey.upload('a.txt', 'a');
    for (const route of Object.values<Route>(ROUTES).filter(({ method }) => method === 'GET')) {
      const credential = route.access === 'session' ? { cookie: account.cookie } : { key: account.key };
      const path = route.path.replace('{id}', String(file.id));
      const ask = (method: string) => client(service.urls.root_url, credential).request(method, path);
      const [get, head] = [await ask('GET'), await ask('HEAD')];
      expect([route.path, head.status, head.body]).toEqual([route.path, get.status, '']);
      // The redirect of a login start has a new state each time.
      for (const name of compared.filter((header) => header !== 'location' || get.status !== 302)) {
        expect([route.path, name, head.headers.get(name)]).toEqual([route.path, name, get.headers.get(name)]);
      }
      expect(head.headers.get('x-request-id')).toMatch(/\S/);
    }
  });

  test('HEAD is counted like GET, and is allowed cross-site like GET', async () => {
    const left = (answer: Answer) => Number(/r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1]);
    // A new account has no older requests, which would change the count when they leave the window of 60 seconds.
    const account = await service.newAccount();
    const first = await account.byKey.request('GET', '/files');
    const second = await account.byKey.request('HEAD', '/files');
    expect(left(second)).toBe(left(first) - 1);
    const foreign = client(service.urls.base_url, { cookie: account.cookie });
    const headers = { origin: 'https://evil.example' };
    expect((await foreign.request('HEAD', '/auth/me', { headers })).status).toBe(200);
  });

  test('HEAD is 405 on a route without GET, 404 on an unknown route, and 401 without a credential', async () => {
    expect((await account.byKey.request('HEAD', `/uploads/${UNKNOWN_ID}/complete`)).status).toBe(405);
    expect((await account.byKey.request('HEAD', '/nothing')).status).toBe(404);
    expect((await client(service.urls.base_url).request('HEAD', '/files')).status).toBe(401);
  });
});

describe('contract: caching', () => {
  test('every answer of the API has Cache-Control: no-store', async () => {
    for (const route of Object.values<Route>(ROUTES)) {
      const answer = await client(service.urls.root_url).request(route.method, route.path.replace('{id}', UNKNOWN_ID));
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
    const uploaded = await account.byKey.upload('a.txt', 'a');
    expect([uploaded.status, uploaded.headers.get('cache-control')]).toEqual([201, 'no-store']);
  });

  test('an answer that the edge or the gateway makes itself has Cache-Control: no-store, too', async () => {
    const ofEdge = await account.byKey.request('GET', '//files');
    expect([ofEdge.status, ofEdge.headers.get('cache-control')]).toEqual([404, 'no-store']);
    const ofGateway = await answerOfKilledFunction();
    expect([ofGateway.status, ofGateway.headers.get('cache-control')]).toEqual([503, 'no-store']);
  });
});

describe('contract: success', () => {
  test('creating a file or a key is 201 with its Location, and deleting it is 200 with its id', async () => {
    const { byKey, bySession } = account;
    const file = await byKey.upload('a.txt', 'a');
    expect(file.status).toBe(201);
    expect(file.headers.get('location')).toBe(`/api/v1/files/${file.body.id}`);
    expect((await byKey.request('GET', `/files/${file.body.id}`)).body).toEqual(file.body);
    const deleted = await byKey.request('DELETE', `/files/${file.body.id}`);
    expect([deleted.status, deleted.body]).toEqual([200, { id: file.body.id, deleted: true }]);

    const key = await bySession.postJson('/api-keys', { name: 'one' });
    expect(key.status).toBe(201);
    expect(key.headers.get('location')).toBe(`/api/v1/api-keys/${key.body.id}`);
    const revoked = await bySession.request('DELETE', `/api-keys/${key.body.id}`);
    expect([revoked.status, revoked.body]).toEqual([200, { id: key.body.id, deleted: true }]);
  });
});
