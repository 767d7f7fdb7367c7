import { randomUUID } from 'node:crypto';
import { type AttributeValue, paginateScan } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { afterAll, expect, test } from 'vitest';
import { operatorOf } from '../support/operator.ts';
import { borrowTestService, type TestAccount } from '../support/service.ts';

const service = await borrowTestService();
const operator = operatorOf(service);
afterAll(async () => {
  operator.close();
  await service.close();
});

/** The rows of an account with its sessions and keys, without what differs from one account to another. */
async function rowsOf({ id, email }: TestAccount): Promise<string[]> {
  const { accounts, sessions, apiKeys } = service.tables;
  const rows: Record<string, AttributeValue>[] = [];
  for (const TableName of [accounts, sessions, apiKeys]) {
    for await (const { Items = [] } of paginateScan(
      { client: operator.dynamoDb },
      { TableName, ConsistentRead: true },
    )) {
      rows.push(...Items.filter((item) => JSON.stringify(item).includes(id)));
    }
  }
  return rows.map((row) => withoutDifferences(unmarshall(row), email)).sort();
}

function withoutDifferences({ name, ...row }: Record<string, unknown>, email: string): string {
  const text = JSON.stringify(Object.entries({ ...row, name: name === 'test' ? name : typeof name }).sort());
  const hours = (milliseconds: number) => `${Math.round((milliseconds - Date.now()) / 3_600_000)} hours from now`;
  return text
    .replaceAll(email, '<email>')
    .replaceAll(encodeURIComponent(email), '<email>')
    .replaceAll(/[0-9a-f]{64}/g, '<hash>')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
    .replaceAll(/svc_test_\w{3}\b/g, '<prefix>')
    .replaceAll(/\b\d{13}\b/g, (digits) => hours(Number(digits)))
    .replaceAll(/\b\d{10}\b/g, (digits) => hours(Number(digits) * 1_000));
}

test('the account that tests write has the same rows as one that logged in and created a key', async () => {
  const written = await rowsOf(await service.newAccount());
  expect(written).toHaveLength(5);
  expect(written).toEqual(await rowsOf(await service.newAccount(`${randomUUID()}@example.com`)));
});

test('the account that tests write has a session, a key, a name and a picture', async () => {
  const { id, email, bySession, byKey } = await service.newAccount();
  const me = await bySession.request('GET', '/auth/me');
  expect([me.status, me.body]).toEqual([200, expect.objectContaining({ id, email, storage_used_bytes: 0 })]);
  expect((await fetch(String(me.body.picture_url))).status).toBe(200);
  const keys = await bySession.request<{ items: unknown[] }>('GET', '/api-keys');
  expect(keys.body.items).toEqual([expect.objectContaining({ name: 'test' })]);
  expect((await byKey.upload('a.txt', 'hello')).status).toBe(201);
});
