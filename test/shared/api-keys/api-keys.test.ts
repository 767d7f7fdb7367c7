import { DeleteItemCommand, GetItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from 'vitest';
import { authenticateKey, createApiKey, listApiKeys, revokeApiKey } from '../../../shared/api-keys/api-key.ts';
import { generateKey, hashKey } from '../../../shared/api-keys/key-format.ts';
import { startAws } from '../../support/aws.ts';
import { bePatient } from '../../support/patient-clients.ts';
import { putAccount } from '../../support/tables.ts';

const { front, engine, tables, operations } = await startAws();
const { apiKeyStore: keys, apiKeyCredentials: credentials } = await import('../../../shared/aws/api-key-store.ts');
bePatient((await import('../../../shared/aws/dynamodb.ts')).dynamoDb);

const NOW = Date.UTC(2026, 10, 21, 12);
const MINUTE_MS = 60_000;

const newAccount = () => putAccount(engine, tables);

async function keyCount(id: string): Promise<number> {
  const { Item } = await engine.send(new GetItemCommand({ TableName: tables.accounts, Key: { id: { S: id } } }));
  return Number(Item?.key_count?.N ?? 0);
}

const inTime = () => Date.now() + 20_000;
const createNamed = (accountId: string, name: unknown, now = NOW) =>
  createApiKey(keys, { accountId, name, kind: 'test', deadlineAt: inTime() }, () => now);
const create = (accountId: string) => createNamed(accountId, 'laptop');
const revoke = (accountId: string, id: string) => revokeApiKey(keys, { accountId, id, deadlineAt: inTime() });
const authenticate = async (key: string, now = NOW) => {
  const holder = await authenticateKey(credentials, key, () => now);
  return holder && { accountId: holder.accountId };
};

describe('creating a key', () => {
  test('returns the key and what the list shows', async () => {
    const accountId = await newAccount();
    const { key, ...shown } = await createNamed(accountId, 'laptop');
    expect(key).toMatch(/^svc_test_/);
    expect(shown).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{14}7[0-9a-f-]{21}$/),
      name: 'laptop',
      key_prefix: key.slice(0, 12),
      created_at: '2026-11-21T12:00:00.000Z',
      last_used_at: null,
    });
    expect(await listApiKeys(keys, accountId)).toEqual({ items: [shown] });
  });

  test.each([
    ['a word between spaces, which are kept', ' my key '],
    ['markup, which is text', '<script>alert(1)</script>'],
  ])('accepts a name of %s', async (_, name) => {
    expect((await createNamed(await newAccount(), name)).name).toBe(name);
  });

  test.each([
    ['is missing', undefined],
    ['is only white space', ' \u3000'],
    ['is a number', 5],
    ['has a line break', 'a\nb'],
    ['has a line separator', 'a\u2028b'],
    ['has half a surrogate pair', 'a\ud800'],
    ['has a mark that turns the direction of text', 'a\u202eb'],
  ])('refuses a name that %s, and writes nothing', async (_, name) => {
    await expect(createNamed(await newAccount(), name)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(operations()).toEqual([]);
  });

  test('waits for other writers of the account', async () => {
    const accountId = await newAccount();
    front.faults.add({ match: {}, effect: 'conflict', times: 3 });
    await create(accountId);
    expect(operations()).toHaveLength(4);
    expect(await keyCount(accountId)).toBe(1);
  });

  test('makes one key when the first answer is lost', async () => {
    const accountId = await newAccount();
    front.faults.add({ match: {}, effect: 'cut-after', times: 1 });
    const { key } = await create(accountId);
    expect((await listApiKeys(keys, accountId)).items).toHaveLength(1);
    expect(await authenticate(key)).toEqual({ accountId });
  });

  test('fails for an account that is gone, and creates no account', async () => {
    const accountId = crypto.randomUUID();
    await expect(create(accountId)).rejects.toThrow();
    const { Item } = await engine.send(
      new GetItemCommand({ TableName: tables.accounts, Key: { id: { S: accountId } } }),
    );
    expect(Item).toBeUndefined();
    expect((await listApiKeys(keys, accountId)).items).toEqual([]);
  });
});

describe('the list of keys', () => {
  test('is service_unavailable, not a shorter list, when part of it is throttled', async () => {
    const accountId = await newAccount();
    await create(accountId);
    const left = { [tables.apiKeys]: { Keys: [{ pk: { S: 'a' }, sk: { S: 'b' } }] } };
    front.faults.add({
      match: { operation: 'BatchGetItem' },
      effect: { answer: { status: 200, body: { Responses: {}, UnprocessedKeys: left } } },
    });
    await expect(listApiKeys(keys, accountId)).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});

describe('revoking a key', () => {
  test('succeeds once and counts once when it happens five times at once', async () => {
    const accountId = await newAccount();
    await create(accountId);
    const { id } = await create(accountId);
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => revoke(accountId, id)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await keyCount(accountId)).toBe(1);
  });

  test('leaves no row of it', async () => {
    const accountId = await newAccount();
    const { id, key } = await create(accountId);
    await revoke(accountId, id);
    const { Items } = await engine.send(new ScanCommand({ TableName: tables.apiKeys }));
    for (const part of [id, hashKey(key)]) expect(JSON.stringify(Items)).not.toContain(part);
  });

  test('succeeds although the row with the count is missing', async () => {
    const accountId = await newAccount();
    const { id, key } = await create(accountId);
    await engine.send(new DeleteItemCommand({ TableName: tables.accounts, Key: { id: { S: accountId } } }));
    await revoke(accountId, id);
    expect(await authenticate(key)).toBeUndefined();
  });
});

describe('authenticating by a key', () => {
  test('costs one read, and one write a minute', async () => {
    const { key } = await create(await newAccount());
    const costs = [];
    for (const later of [0, 1_000, MINUTE_MS - 1, MINUTE_MS, MINUTE_MS + 1]) {
      const mark = front.meter.mark();
      await authenticate(key, NOW + later);
      costs.push(operations(mark).join(' '));
    }
    expect(costs).toEqual(['GetItem UpdateItem', 'GetItem', 'GetItem', 'GetItem UpdateItem', 'GetItem']);
  });

  test.each([
    ['that was mistyped', (key: string) => `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`, 0],
    ['that is not a key at all', () => 'hunter2', 0],
    ['that was never issued', () => generateKey('test'), 1],
    ['of the other kind', (key: string) => key.replace('svc_test_', 'svc_live_'), 1],
  ])('a key %s finds no account', async (_, change, reads) => {
    const { key } = await create(await newAccount());
    const mark = front.meter.mark();
    expect(await authenticate(change(key))).toBeUndefined();
    expect(operations(mark)).toHaveLength(reads);
  });

  test('does not note the use of a key that was revoked meanwhile, because that write would bring the key back', async () => {
    const accountId = await newAccount();
    const { id, key } = await create(accountId);
    await revoke(accountId, id);
    await credentials.noteUse(hashKey(key), NOW, NOW - MINUTE_MS);
    const { Item } = await engine.send(
      new GetItemCommand({ TableName: tables.apiKeys, Key: { pk: { S: `hash#${hashKey(key)}` }, sk: { S: 'key' } } }),
    );
    expect(Item).toBeUndefined();
    expect(await authenticate(key)).toBeUndefined();
  });

  test('notes a use late without hiding a later use', async () => {
    const accountId = await newAccount();
    const { key } = await create(accountId);
    const late = Promise.withResolvers<void>();
    const match = { operation: 'UpdateItem' };
    const fault = front.faults.add({ match, effect: { lateBy: late.promise }, times: 1 });
    for (const used of [NOW, NOW + MINUTE_MS]) await credentials.noteUse(hashKey(key), used, used - MINUTE_MS);
    late.resolve();
    await fault.lateAnswers();
    const [listed] = (await listApiKeys(keys, accountId)).items;
    expect(listed?.last_used_at).toBe('2026-11-21T12:01:00.000Z');
  });

  test('succeeds when the write that notes its use conflicts with a revocation', async () => {
    const accountId = await newAccount();
    const { key } = await create(accountId);
    front.faults.add({ match: { operation: 'UpdateItem' }, effect: 'conflict' });
    expect(await authenticate(key)).toEqual({ accountId });
  });
});
