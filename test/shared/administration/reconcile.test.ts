import { randomUUID } from 'node:crypto';
import { DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from 'vitest';
import { auditAccount } from '../../../shared/administration/audit-account.ts';
import { type AccountReport, reconcile } from '../../../shared/administration/reconcile.ts';
import { leafId } from '../../../shared/aws/file-items.ts';
import { deleteFile } from '../../../shared/files/delete-file.ts';
import type { StoredFile } from '../../../shared/files/file.ts';
import { inTime, newAccount, newTicket, upload } from '../files/actions.ts';
import { expectBalance, usageOf } from '../files/observe.ts';
import { startService } from '../files/service.ts';

const service = await startService();
const { stores, engine, tables } = service;

function run(options: { accountId?: string; repair: boolean }, using = stores): Promise<AccountReport[]> {
  return Array.fromAsync(reconcile(using, options));
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
      UpdateExpression: 'SET removed = :value',
      ExpressionAttributeValues: { ':value': { N: String(value) } },
    }),
  );

async function accountWithFiles() {
  const accountId = await newAccount(service);
  const files: StoredFile[] = [];
  for (const content of ['a', 'bb', 'ccc']) files.push((await upload(service, accountId, content)).file);
  return { accountId, files };
}

describe('the books of an account', () => {
  test('show no differences when they balance, even with a pending ticket', async () => {
    const { accountId } = await accountWithFiles();
    await newTicket(service, accountId, 10);
    expect(await run({ accountId, repair: true })).toEqual([{ accountId, differences: [], isRepaired: false }]);
    expect(await usageOf(service, accountId)).toEqual({ bytes: 16, files: 3 });
  });

  test.each([
    ['record another usage', 'storage used', (id: string) => setAccount(id, 'SET storage_used_bytes = :value', 99)],
    ['record another number of files', 'file count', (id: string) => setAccount(id, 'SET file_count = :value', 99)],
    [
      'count a group wrongly',
      'group',
      (id: string) => setAccount(id, 'SET #g.#i = :value', 9, { '#g': 'removed', '#i': '0' }),
    ],
    [
      'count a group that does not exist',
      'group',
      (id: string) => setAccount(id, 'SET #g.#i = :value', 9, { '#g': 'removed', '#i': '7' }),
    ],
    ['give out a seq twice', 'next seq', (id: string) => setAccount(id, 'SET next_seq = :value', 1)],
    ['have lost the end of the listing', 'group', (id: string) => setAccount(id, 'SET next_seq = :value', 9_000)],
    [
      'would date the next file before an older one',
      'time of the newest file',
      (id: string) => setAccount(id, 'SET last_file_at = :value', 1),
    ],
    ['have a wrong bitmap of a leaf', 'leaf', (id: string) => setLeaf(id, '#leaf#00000000000', 9)],
    ['have a bitmap of a leaf that does not exist', 'leaf', (id: string) => setLeaf(id, '#leaf#00000000044', 9)],
    [
      'count a file whose row is missing',
      'storage used',
      async (accountId: string, { id, objectKey }: StoredFile) => {
        const Key = { account_id: { S: accountId }, id: { S: id } };
        await engine.send(new DeleteItemCommand({ TableName: tables.files, Key }));
        await stores.objects.remove(objectKey);
      },
    ],
  ] as const)('are repaired when they %s', async (_, what, spoil) => {
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

  test('are not reported as repaired while the listing has a row that is not a ready file', async () => {
    const { accountId, files } = await accountWithFiles();
    const [{ id, objectKey }] = files as [StoredFile];
    const Key = { account_id: { S: accountId }, id: { S: id } };
    await engine.send(
      new UpdateItemCommand({
        TableName: tables.files,
        Key,
        UpdateExpression: 'SET #state = :deleting',
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: { ':deleting': { S: 'deleting' } },
      }),
    );
    const listing = { what: 'listing', fileId: id };
    const [first] = await run({ accountId, repair: true });
    expect(first).toMatchObject({ isRepaired: false, differences: expect.arrayContaining([listing]) });
    expect(await run({ accountId, repair: true })).toEqual([{ accountId, isRepaired: false, differences: [listing] }]);
    await engine.send(new DeleteItemCommand({ TableName: tables.files, Key }));
    await stores.objects.remove(objectKey);
    expect(await run({ accountId, repair: true })).toEqual([{ accountId, isRepaired: false, differences: [] }]);
  });

  test('are left alone when they change during the audit', async () => {
    const { accountId } = await accountWithFiles();
    await setAccount(accountId, 'SET storage_used_bytes = :value', 99);
    const { recorded, computed } = await auditAccount(stores, accountId);
    await upload(service, accountId, 'dddd');
    expect(await stores.audit.rewrite(accountId, recorded, computed, inTime())).toBe(false);
    expect(await usageOf(service, accountId)).toEqual({ bytes: 103, files: 4 });
    await run({ accountId, repair: true });
    await expectBalance(service, accountId, { files: 4, bytes: 10 });
  });

  test('are left alone when they change during the audit, even if the sum of bytes stays the same', async () => {
    const { accountId, files } = await accountWithFiles();
    await setAccount(accountId, 'SET storage_used_bytes = :value', 99);
    const [first] = files as [StoredFile];
    files.push((await upload(service, accountId, 'dddd')).file);
    for (const file of files) await makeRowLarge(file);
    // After the first file was read, it is replaced by a file of the same size, which will be on the next page.
    const reports = await run(
      { accountId, repair: true },
      betweenRows(async () => {
        await deleteFile(stores, first, inTime());
        await upload(service, accountId, 'A');
      }),
    );
    expect(reports).toMatchObject([{ isRepaired: false }]);
    expect(await usageOf(service, accountId)).toEqual({ bytes: 103, files: 4 });
    await run({ accountId, repair: true });
    await expectBalance(service, accountId, { files: 4, bytes: 10 });
  });

  test('are right in the end even if more leaves are wrong than one transaction can write', async () => {
    const { accountId } = await accountWithFiles();
    await Promise.all(Array.from({ length: 120 }, (_, leaf) => setLeaf(accountId, leafId(leaf), 9)));
    const second = service.front.faults.add({
      match: { operation: 'TransactWriteItems', predicate: (subject) => JSON.stringify(subject).includes(leafId(119)) },
      effect: 'error-before',
    });
    // The second of two transactions fails, as if the repair had died after the first, or its time had ended.
    await expect(run({ accountId, repair: true })).rejects.toThrow();
    second.remove();
    expect((await auditAccount(stores, accountId)).differences.length).toBeLessThan(100);
    expect(await run({ accountId, repair: true })).toMatchObject([{ isRepaired: true }]);
    await expectBalance(service, accountId, { files: 3, bytes: 6 });
  });
});

/** Makes the row of a file so large that three of them fill a page of a query. */
const makeRowLarge = ({ accountId, id }: StoredFile) =>
  engine.send(
    new UpdateItemCommand({
      TableName: tables.files,
      Key: { account_id: { S: accountId }, id: { S: id } },
      UpdateExpression: 'SET padding = :padding',
      ExpressionAttributeValues: { ':padding': { S: 'x'.repeat(390_000) } },
    }),
  );

/** The stores, except that `happen` runs when the first row of an account has been read. */
function betweenRows(happen: () => Promise<void>): typeof stores {
  return {
    ...stores,
    audit: {
      ...stores.audit,
      async *rows(accountId) {
        let isFirst = true;
        for await (const row of stores.audit.rows(accountId)) {
          yield row;
          if (isFirst) await happen();
          isFirst = false;
        }
      },
    },
  };
}

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

test('a broken file that its owner deletes meanwhile, or that cannot be deleted, does not stop the repair of the others', async () => {
  const { accountId, files } = await accountWithFiles();
  for (const { objectKey } of files) await stores.objects.remove(objectKey);
  const [deleted, resisting] = files as [StoredFile, StoredFile];
  const fault = service.front.faults.add({
    match: { operation: 'TransactWriteItems', predicate: (subject) => JSON.stringify(subject).includes(resisting.id) },
    effect: 'error-before',
  });
  const deleteMeanwhile = betweenRows(() => deleteFile(stores, deleted, inTime()));
  expect(await run({ accountId, repair: true }, deleteMeanwhile)).toMatchObject([{ isRepaired: false }]);
  fault.remove();
  expect(await usageOf(service, accountId)).toEqual({ bytes: 2, files: 1 });
  expect(await run({ accountId, repair: true })).toMatchObject([{ isRepaired: true }]);
  await expectBalance(service, accountId, { files: 0, bytes: 0 });
});

test('an account that is deleted meanwhile does not end the run', async () => {
  const { accountId } = await accountWithFiles();
  const accountIds = async function* () {
    yield randomUUID();
    yield accountId;
  };
  const using = { ...stores, audit: { ...stores.audit, accountIds } };
  expect(await run({ repair: true }, using)).toEqual([{ accountId, differences: [], isRepaired: false }]);
  await expect(run({ accountId: randomUUID(), repair: true })).rejects.toMatchObject({ code: 'not_found' });
});

test('reconcile audits all accounts when no account is given', async () => {
  const { accountId } = await accountWithFiles();
  await setAccount(accountId, 'SET file_count = :value', 99);
  const reports = await run({ repair: false });
  expect(reports.length).toBeGreaterThan(1);
  expect(reports.filter(({ differences }) => differences.length > 0).map((report) => report.accountId)).toEqual([
    accountId,
  ]);
});
