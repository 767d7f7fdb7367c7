import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, test } from 'vitest';
import { API_KEYS_PER_ACCOUNT_MAX } from '../../shared/contract/limits.ts';
import { client } from '../support/client.ts';
import { borrowTestService } from '../support/service.ts';
import { dynamoDbClient } from '../support/tables.ts';

const service = await borrowTestService();
afterAll(() => service.close());

type Key = {
  id: string;
  name: string;
  key: string;
  key_prefix: string;
  created_at: string;
  last_used_at: string | null;
};
const byKey = (key: string) => client(service.urls.base_url, { key });

describe('contract: keys list', () => {
  test('the list shows the newest key first, and never the secret', async () => {
    const { bySession } = await service.newAccount();
    for (const name of ['first', 'second', 'third']) await bySession.postJson('/api-keys', { name });
    const { status, body } = await bySession.request<{ items: Key[] }>('GET', '/api-keys');
    expect([status, Object.keys(body)]).toEqual([200, ['items']]);
    expect(body.items.map(({ name }) => name)).toEqual(expect.arrayContaining(['third', 'second', 'first']));
    expect(body.items.slice(0, 3).map(({ name }) => name)).toEqual(['third', 'second', 'first']);
    for (const item of body.items) {
      expect(Object.keys(item).sort()).toEqual(['created_at', 'id', 'key_prefix', 'last_used_at', 'name']);
    }
  });

  test.for([
    ['no code points', 400, ''],
    ['one code point', 201, 'k'],
    ['100 code points', 201, '🔑'.repeat(100)],
    ['101 code points', 400, '🔑'.repeat(101)],
  ] as const)('creating a key with a name of %s is %i', async ([, status, name]) => {
    const { bySession } = await service.newAccount();
    expect((await bySession.postJson('/api-keys', { name })).status).toBe(status);
  });
});

describe('contract: keys', () => {
  test('a key has the prefix of its stage, works at once, and is 401 from the first request after its revocation', async () => {
    const { bySession } = await service.newAccount();
    const { body } = await bySession.postJson<Key>('/api-keys', { name: 'ci' });
    expect(body.key).toMatch(/^svc_test_[0-9A-Za-z]{49}$/);
    expect(body.key_prefix).toBe(body.key.slice(0, 12));
    expect((await bySession.request('GET', '/api-keys')).body).toMatchObject({
      items: [{ key_prefix: body.key_prefix }, {}],
    });
    expect(body.last_used_at).toBeNull();
    const startedAt = Date.now();
    expect((await byKey(body.key).request('GET', '/files')).status).toBe(200);
    const list = await bySession.request<{ items: Key[] }>('GET', '/api-keys');
    const used = list.body.items.find(({ id }) => id === body.id)?.last_used_at;
    expect(Date.parse(used ?? '')).toBeGreaterThanOrEqual(startedAt);
    expect(Date.parse(used ?? '')).toBeLessThanOrEqual(Date.now());

    expect((await bySession.request('DELETE', `/api-keys/${body.id}`)).status).toBe(200);
    for (let time = 0; time < 3; time++) expect((await byKey(body.key).request('GET', '/files')).status).toBe(401);
    expect((await bySession.request('DELETE', `/api-keys/${body.id}`)).status).toBe(404);
  });

  test('the table of keys contains no key, only its hash', async () => {
    const { key } = await service.newAccount();
    const stored = await dynamoDbClient().send(new ScanCommand({ TableName: service.tables.apiKeys }));
    expect(stored.Items).not.toEqual([]);
    expect(JSON.stringify(stored.Items)).not.toContain(key);
  });

  test('a mistyped key is refused without a read of the database', async () => {
    const { key } = await service.newAccount();
    const typo = key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21);
    const mark = service.front.meter.mark();
    expect((await byKey(typo).request('GET', '/files')).status).toBe(401);
    expect(service.front.meter.since(mark).calls).toEqual([]);
  });

  test(`an account can create ${API_KEYS_PER_ACCOUNT_MAX} keys and no more, even when requests are simultaneous`, async () => {
    const { bySession } = await service.newAccount(); // It has one key already.
    const make = async (count: number) => {
      const made = Array.from({ length: count }, () => bySession.postJson('/api-keys', { name: 'k' }));
      return (await Promise.all(made)).map(({ status, body }) => (status === 201 ? status : body));
    };
    // In batches, because on a busy machine a hundred transactions at once can take longer than the service waits.
    for (let made = 1; made < API_KEYS_PER_ACCOUNT_MAX - 9; made += 10) {
      expect(await make(10)).toEqual(Array.from({ length: 10 }, () => 201));
    }
    const last = await make(15);
    expect(last.filter((made) => made === 201)).toHaveLength(9);
    expect(last.filter((made) => made !== 201)).toEqual(
      Array.from({ length: 6 }, () => ({ error: 'api_key_limit_exceeded' })),
    );
    const { body } = await bySession.request<{ items: Key[] }>('GET', '/api-keys');
    expect(body.items).toHaveLength(API_KEYS_PER_ACCOUNT_MAX);
    expect((await bySession.request('DELETE', `/api-keys/${body.items[50]?.id}`)).status).toBe(200);
    expect(await make(2)).toEqual(expect.arrayContaining([201, { error: 'api_key_limit_exceeded' }]));
  });
});

describe('contract: key management', () => {
  test('a key cannot list, create or revoke keys, read the profile or log out', async () => {
    const { key } = await service.newAccount();
    const program = byKey(key);
    for (const answer of [
      await program.request('GET', '/api-keys'),
      await program.postJson('/api-keys', { name: 'more' }),
      await program.request('DELETE', '/api-keys/01900000-0000-7000-8000-000000000000'),
      await program.request('GET', '/auth/me'),
      await program.request('POST', '/auth/logout'),
      await program.request('DELETE', '/auth/sessions'),
      await program.request('GET', '/auth/sessions'),
      await program.request('DELETE', '/auth/sessions/01900000-0000-7000-8000-000000000000'),
    ]) {
      expect([answer.status, answer.body]).toEqual([401, { error: 'unauthorized' }]);
    }
  });

  test('a key and a session of one account have the same files and tickets, with the same fields', async () => {
    const { byKey: program, bySession: browser } = await service.newAccount();
    const { body: file } = await program.upload('a.txt', 'hello');
    for (const path of ['/files', `/files/${file.id}`, '/usage']) {
      const [one, other] = [await program.request('GET', path), await browser.request('GET', path)];
      expect([other.status, other.body]).toEqual([200, one.body]);
    }
    const wanted = { name: 'b', mime_type: 'text/plain', size_bytes: 1 };
    for (const [maker, ender] of [
      [program, browser],
      [browser, program],
    ] as const) {
      const { body: ticket } = await maker.postJson('/uploads', wanted);
      expect((await ender.request('DELETE', `/uploads/${ticket.id}`)).status).toBe(200);
    }
    expect((await browser.request('DELETE', `/files/${file.id}`)).status).toBe(200);
  });

  test("revoking another account's key is 404 like an unknown one, and the key stays valid", async () => {
    const [mine, theirs] = [await service.newAccount(), await service.newAccount()];
    const { body } = await mine.bySession.request<{ items: Key[] }>('GET', '/api-keys');
    const answer = await theirs.bySession.request('DELETE', `/api-keys/${body.items[0]?.id}`);
    expect([answer.status, answer.body]).toEqual([404, { error: 'not_found' }]);
    expect((await mine.byKey.request('GET', '/files')).status).toBe(200);
  });
});
