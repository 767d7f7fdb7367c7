import { randomUUID } from 'node:crypto';
import { DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from 'vitest';
import { auditAccount } from '../../../shared/files/audit-account.ts';
import type { StoredFile } from '../../../shared/files/file.ts';
import { type AccountReport, reconcile } from '../../../shared/files/reconcile.ts';
import { inTime, newAccount, newTicket, upload } from './actions.ts';
import { expectBalance, usageOf } from './observe.ts';
import { startService } from './service.ts';

const service = await startService();
const { stores, engine, tables } = service;

async function run(options: { accountId?: string; repair: boolean }): Promise<AccountReport[]> {
  const reports: AccountReport[] = [];
  for await (const report of reconcile(stores, { ...options, ...inTime() })) reports.push(report);
  return reports;
}

const setAccount = (id: string, expression: string, value: number, names: Record<string, string> = {}) =>
  engine.send(
    new UpdateItemCommand({
      TableName: tables.accounts,
      Key: { id: { S: id } },
      UpdateExpression: expression,
      ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
      ExpressionAttributeValues: { ':value': { N: String(value) } },
    }),
  );

const setLeaf = (accountId: string, leaf: string, value: number) =>
  engine.send(
    new UpdateItemCommand({
      TableName: tables.files,
      Key: { account_id: { S: accountId }, id: { S: leaf } },
      UpdateExpression: 'SET n = :value',
      ExpressionAttributeValues: { ':value': { N: String(value) } },
    }),
  );

async function accountWithFiles() {
  const accountId = await newAccount(service);
  const files: StoredFile[] = [];
  for (const content of ['a', 'bb', 'ccc']) files.push((await upload(service, accountId, content)).file);
  return { accountId, files };
}

describe('an account whose books', () => {
  test('balance has no differences, also with a ticket pending', async () => {
    const { accountId } = await accountWithFiles();
    await newTicket(service, accountId, 10);
    expect(await run({ accountId, repair: true })).toEqual([{ accountId, differences: [], isRepaired: false }]);
    expect(await usageOf(service, accountId)).toEqual({ bytes: 16, files: 3 });
  });

  test.each([
    ['say another usage', 'storage used', (id: string) => setAccount(id, 'SET storage_used_bytes = :value', 99)],
    ['say another count', 'file count', (id: string) => setAccount(id, 'SET file_count = :value', 99)],
    [
      'count a group wrong',
      'group',
      (id: string) => setAccount(id, 'SET #g.#i = :value', 9, { '#g': 'groups', '#i': '0' }),
    ],
    [
      'count a group that is not',
      'group',
      (id: string) => setAccount(id, 'SET #g.#i = :value', 9, { '#g': 'groups', '#i': '7' }),
    ],
    ['count a leaf wrong', 'leaf', (id: string) => setLeaf(id, '#leaf#000000', 9)],
    ['count a leaf that is not', 'leaf', (id: string) => setLeaf(id, '#leaf#000044', 9)],
    [
      'lack a row',
      'storage used',
      async (accountId: string, { id, objectKey }: StoredFile) => {
        const Key = { account_id: { S: accountId }, id: { S: id } };
        await engine.send(new DeleteItemCommand({ TableName: tables.files, Key }));
        await stores.objects.remove(objectKey);
      },
    ],
  ] as const)('%s differ, and are written anew', async (_, what, spoil) => {
    const { accountId, files } = await accountWithFiles();
    await spoil(accountId, files[0] as StoredFile);
    const [seen] = await run({ accountId, repair: false });
    expect(seen).toMatchObject({
      isRepaired: false,
      differences: expect.arrayContaining([expect.objectContaining({ what })]),
    });
    expect((await run({ accountId, repair: true }))[0]?.isRepaired).toBe(true);
    const { differences, computed } = await auditAccount(stores, accountId);
    expect(differences).toEqual([]);
    expect(await usageOf(service, accountId)).toEqual({ bytes: computed.storageUsedBytes, files: computed.fileCount });
  });

  test('change while we look are left alone', async () => {
    const { accountId } = await accountWithFiles();
    await setAccount(accountId, 'SET storage_used_bytes = :value', 99);
    const { recorded, computed } = await auditAccount(stores, accountId);
    await upload(service, accountId, 'dddd');
    expect(await stores.audit.rewrite(accountId, recorded, computed)).toBe(false);
    expect(await usageOf(service, accountId)).toEqual({ bytes: 103, files: 4 });
    await run({ accountId, repair: true });
    await expectBalance(service, accountId, { files: 4, bytes: 10 });
  });
});

test.each([
  ['is gone', (key: string) => stores.objects.remove(key)],
  [
    'has another size',
    (key: string) =>
      stores.objects.put(key, Buffer.from('longer'), {
        owner: { accountId: randomUUID(), id: randomUUID() },
        mimeType: 'text/plain',
        contentDisposition: 'inline',
      }),
  ],
])('a file whose object %s is found and deleted', async (_, spoil) => {
  const { accountId, files } = await accountWithFiles();
  await spoil(files[1]?.objectKey ?? '');
  const [report] = await run({ accountId, repair: true });
  expect(report?.differences).toMatchObject([{ what: 'object', file: { id: files[1]?.id } }]);
  await expectBalance(service, accountId, { files: 2, bytes: 4 });
});

test('all accounts are looked at when none is named', async () => {
  const { accountId } = await accountWithFiles();
  await setAccount(accountId, 'SET file_count = :value', 99);
  const reports = await run({ repair: false });
  expect(reports.length).toBeGreaterThan(1);
  expect(reports.filter(({ differences }) => differences.length > 0).map((report) => report.accountId)).toEqual([
    accountId,
  ]);
});
