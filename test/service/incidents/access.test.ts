import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { expectError } from '../../support/expect-error.ts';
import { type Operator, operatorOf } from '../../support/operator.ts';
import { type RawAnswer, rawRequest, sendRaw } from '../../support/raw-http.ts';
import { startTestService, type TestAccount, type TestService } from '../../support/service.ts';
import { expectUnharmed } from './unharmed.ts';

/** Known attacks on access control of services like this one, tried over HTTP. */

let service: TestService;
let operator: Operator;
let account: TestAccount;

beforeAll(async () => {
  service = await startTestService({ RATE_LIMIT_REQUESTS_PER_MINUTE: '1000' });
  operator = operatorOf(service);
  account = await service.newAccount();
  await account.byKey.upload('a.txt', 'a');
  // A deletion creates the row of the file's leaf. The test of ids below asks for the id of that row.
  const { body } = await account.byKey.upload('b.txt', 'b');
  await account.byKey.request('DELETE', `/files/${body.id}`);
});
afterAll(async () => {
  operator.close();
  await service.close();
});
afterEach(async () => {
  await expectUnharmed(operator);
});

const send = (bytes: string) => sendRaw(service.urls.root_url, bytes);
const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';

describe('unknown members of a JSON body', () => {
  const headers = { 'content-type': 'application/json' };

  test('do not change a ticket', async () => {
    const other = await service.newAccount();
    const theirs = { id: UNKNOWN_ID, account_id: other.id, object_key: 'uploads/x', state: 'ready' };
    const members = JSON.stringify({ name: 'a', mime_type: 'text/plain', size_bytes: 1, ...theirs }).slice(1);
    const body = `{"__proto__":{"size_bytes":0},${members}`;
    const ticket = await account.byKey.request('POST', '/uploads', { body, headers });
    expect(ticket.status).toBe(202);
    expect(ticket.body.id).not.toBe(UNKNOWN_ID);
    expect(await service.rowsOf(other.id)).toEqual([]);
    expect(await service.rowsOf(account.id)).toContainEqual(
      expect.objectContaining({
        id: { S: expect.stringContaining(`${ticket.body.id}`) },
        state: { S: 'pending' },
        size_bytes: { N: '1' },
      }),
    );
    await cancel(String(ticket.body.id));
  });

  test('do not supply the name through __proto__', async () => {
    const body = '{"__proto__":{"name":"x"}}';
    const answer = await account.bySession.request('POST', '/api-keys', { body, headers });
    expect([answer.status, answer.body]).toEqual([400, { error: 'invalid_request' }]);
  });
});

/** Cancels a ticket and expires it, so that nothing is left of it. */
async function cancel(id: string, by = account): Promise<void> {
  expect((await by.byKey.request('DELETE', `/uploads/${id}`)).status).toBe(200);
  await operator.expireDeadlines();
  await operator.sweep();
}

describe('cookies', () => {
  test.for([
    ['a planted one first', (cookie: string) => [`Cookie: session=planted; ${cookie}`]],
    ['a planted one last', (cookie: string) => [`Cookie: ${cookie}; session=planted`]],
    ['the same one twice', (cookie: string) => [`Cookie: ${cookie}; ${cookie}`]],
    ['a planted one in a separate header', (cookie: string) => ['Cookie: session=planted', `Cookie: ${cookie}`]],
  ] as const)('two session cookies are 401: %s', async ([, headers]) => {
    expectError(await send(rawRequest('GET /api/v1/auth/me', headers(account.cookie))), 'unauthorized');
  });

  test('the session cookie is found among cookies with odd names', async () => {
    const odd = `Cookie: __proto__=x; constructor=y; Session=planted; =z; ; ${account.cookie}; __Host-session=planted`;
    expect((await send(rawRequest('GET /api/v1/auth/me', [odd])))?.status).toBe(200);
  });

  test('CVE-2026-126952 (Zipline): an id in place of a secret is not a credential', async () => {
    const [, token = ''] = account.cookie.split('=');
    const hash = createHash('sha256').update(token).digest('hex');
    for (const value of [account.id, hash, account.email, '', 'undefined', 'null', '__proto__']) {
      expectError(await send(rawRequest('GET /api/v1/auth/me', [`Cookie: session=${value}`])), 'unauthorized');
      expectError(await send(rawRequest('GET /api/v1/files', [`Authorization: Bearer ${value}`])), 'unauthorized');
    }
  });
});

test.for(['DELETE', 'POST', '<b>'])('X-HTTP-Method-Override: %s is ignored', async (method) => {
  const headers = [`Authorization: Bearer ${account.key}`, `X-HTTP-Method-Override: ${method}`];
  const answer = await send(rawRequest('GET /api/v1/files', headers));
  expect(answer?.status).toBe(200);
  expect(answer?.text).toMatch(/^{"items":/);
});

describe('ids', () => {
  const ROUTES_WITH_ID = [
    'GET /files/{id}',
    'DELETE /files/{id}',
    'POST /uploads/{id}/complete',
    'DELETE /uploads/{id}',
    'DELETE /api-keys/{id}',
    'DELETE /auth/sessions/{id}',
  ];

  function ask(by: TestAccount, route: string, id: string): Promise<RawAnswer | undefined> {
    const credential = /api-keys|sessions/.test(route)
      ? [`Cookie: ${by.cookie}`, `Origin: ${new URL(service.urls.root_url).origin}`]
      : [`Authorization: Bearer ${by.key}`];
    return send(rawRequest(route.replace(' ', ' /api/v1').replace('{id}', id), credential));
  }

  test.for([
    ['CVE-2025-48370 (supabase auth-js), CVE-2025-22137 (Pingvin Share): a path', '../x'],
    ['a path with encoded dots', '%2e%2e/x'],
    ['a path with encoded slashes', '..%2f..%2fauth%2fme'],
    ['a path with encoded backslashes', '..%5c..%5cx'],
    ['a path encoded twice', '%252e%252e%252fx'],
    ['the key of the row of a leaf', '%23leaf%23000000'],
    ['a key of the table', '__proto__'],
    ['a NUL', '%00'],
    ['a wildcard', '*'],
    ['2,000 characters', 'a'.repeat(2_000)],
  ] as const)('%s as an id is 404', async ([, id]) => {
    for (const route of ROUTES_WITH_ID) expectError(await ask(account, route, id), 'not_found');
  });

  test('ASVS 8.2.2: ids of another account get exactly the same answer as unknown ids', async () => {
    const other = await service.newAccount();
    const file = await other.byKey.upload('secret.txt', 'secret');
    const ticket = await other.byKey.postJson('/uploads', { name: 'a', mime_type: 'text/plain', size_bytes: 1 });
    const keys = await other.bySession.request<{ items: { id: string }[] }>('GET', '/api-keys');
    const theirs = [String(file.body.id), String(ticket.body.id), String(keys.body.items[0]?.id)];
    for (const route of ROUTES_WITH_ID) {
      const missing = comparable(await ask(account, route, UNKNOWN_ID));
      expect(missing).toMatchObject({ status: 404, text: '{"error":"not_found"}' });
      for (const id of theirs) expect(comparable(await ask(account, route, id))).toEqual(missing);
    }
    expect((await other.byKey.request('GET', `/files/${file.body.id}`)).body).toEqual(file.body);
    await cancel(String(ticket.body.id), other);
  });
});

/** An answer without the headers that differ between two equal requests. */
function comparable(answer: RawAnswer | undefined) {
  const differs = /^(date|ratelimit|x-request-id|x-amz.*)$/;
  return { ...answer, headers: [...(answer?.headers ?? [])].filter(([name]) => !differs.test(name)) };
}

describe('the limit of login starts', () => {
  test('CVE-2026-126937 (Zipline): cannot be evaded by a header with another client address', async () => {
    const limited = await startTestService({ RATE_LIMIT_LOGIN_STARTS_PER_MINUTE: '3' });
    const start = (headers: readonly string[] = []) =>
      sendRaw(limited.urls.root_url, rawRequest('GET /api/v1/auth/google', headers));
    for (let time = 0; time < 3; time++) expect((await start())?.status).toBe(302);
    const address = '203.0.113.7';
    for (const headers of [
      [],
      [`X-Forwarded-For: ${address}`],
      [`X-Forwarded-For: ${address}, 198.51.100.1`, `X-Forwarded-For: ${address}`],
      [`X-Real-IP: ${address}`, `True-Client-IP: ${address}`, `CF-Connecting-IP: ${address}`],
      [`Forwarded: for=${address}`],
      [`X-Viewer-Address: ${address}`],
      [`X-Viewer-Address: ${address}`, 'X-Origin-Secret: guess'],
      [`X-Viewer-Address: ${address}`, `x-viewer-address: ${address}`, 'X-Origin-Secret: '],
      [`CloudFront-Viewer-Address: ${address}:443`],
      ['Connection: x-viewer-address, x-origin-secret, x-forwarded-for', `X-Forwarded-For: ${address}`],
    ]) {
      expectError(await start(headers), 'rate_limit_exceeded');
    }
    await limited.close();
  });
});
