import { randomUUID } from 'node:crypto';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { auditAccount } from '../../../shared/administration/audit-account.ts';
import { eachOf } from '../../../shared/each-of.ts';
import { deleteFile } from '../../../shared/files/delete-file.ts';
import type { StoredFile } from '../../../shared/files/file.ts';
import { listFiles } from '../../../shared/files/list-files.ts';
import { skipSeqs } from '../../support/generated-files.ts';
import { IS_THOROUGH } from '../../support/thorough.ts';
import { ACCOUNT_LIMITS, inTime, newAccount, upload } from './actions.ts';
import { startService } from './service.ts';

const service = await startService();
const { stores, engine, tables } = service;

/** Makes a ready file at the place `seq`, as the product makes it, except that it has no object. Skips free places before `seq`. */
async function place(accountId: string, seq: number, name = `${seq}`): Promise<StoredFile> {
  await skipSeqs(engine, tables, accountId, seq);
  const known = await stores.accounts.get(accountId);
  if (!known) throw new Error('there is no such account');
  const ref = { accountId, id: randomUUID() };
  const file = { ...ref, name, mimeType: 'text/plain', sizeBytes: 1, objectKey: `uploads/${ref.id}` };
  const allowance = { limits: ACCOUNT_LIMITS, known };
  const settled = await stores.settlements.settleUpload({ file, now: seq, allowance }, inTime());
  expect(settled).toMatchObject({ seq });
  return { ...file, createdAt: seq };
}

/** Places files one after the other, because each takes the place after the last. */
const placeAll = (count: number, task: (seq: number) => Promise<StoredFile>) =>
  eachOf(
    Array.from({ length: count }, (_, seq) => seq),
    1,
    task,
  );

const list = async (accountId: string, page: number, limit: number, search?: string) => {
  const { files, total } = await listFiles(stores, { accountId, page, limit, search });
  return { names: files.map(({ name }) => name), total };
};

/** Places near every boundary: of a leaf, of a group, far apart. */
const SEQS = [31, 62, 64, 126, 129, 8_190, 8_192, 8_254, 16_384, 40_000];

test('the listing shows the same pages as a plain list after any uploads and deletions', async () => {
  const operation = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('upload' as const) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('delete' as const), nth: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('skip' as const), to: fc.constantFrom(...SEQS) }) },
  );
  const pages = fc.record({ limit: fc.constantFrom(1, 2, 3, 5, 7, 20), page: fc.integer({ min: 1, max: 8 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(operation, { minLength: 5, maxLength: 40 }),
      fc.array(pages, { minLength: 5, maxLength: 10 }),
      async (operations, questions) => {
        const accountId = await newAccount(service);
        let nextSeq = 0;
        /** The files that must be listed, oldest first. */
        const model: StoredFile[] = [];
        for (const operation of operations) {
          if (operation.kind === 'upload') model.push(await place(accountId, nextSeq++));
          if (operation.kind === 'skip') nextSeq = Math.max(nextSeq, operation.to);
          if (operation.kind === 'delete' && model.length > 0) {
            const [file] = model.splice(operation.nth % model.length, 1);
            await deleteFile(stores, file as StoredFile, inTime());
          }
        }
        const names = model.map(({ name }) => name).reverse();
        for (const { page, limit } of questions) {
          const expected = { names: names.slice((page - 1) * limit, page * limit), total: names.length };
          expect(await list(accountId, page, limit)).toEqual(expected);
          const found = names.filter((name) => name.includes('1'));
          const expectedFound = { names: found.slice((page - 1) * limit, page * limit), total: found.length };
          expect(await list(accountId, page, limit, '1')).toEqual(expectedFound);
        }
        const { differences } = await auditAccount(
          { audit: stores.audit, objects: { size: async () => 1 } },
          accountId,
        );
        expect(differences).toEqual([]);
      },
    ),
    { numRuns: IS_THOROUGH ? 8 : 4 },
  );
});

describe('a full leaf', () => {
  test('gives every page, wherever it begins in the leaf, in three reads', async () => {
    const accountId = await newAccount(service);
    await placeAll(140, (seq) => place(accountId, seq));
    const names = Array.from({ length: 140 }, (_, i) => String(139 - i));
    for (const limit of [7, 33, 64, 100]) {
      for (let page = 1; page <= Math.ceil(140 / limit) + 1; page++) {
        const expected = { names: names.slice((page - 1) * limit, page * limit), total: 140 };
        expect(await list(accountId, page, limit)).toEqual(expected);
      }
    }
    const mark = service.front.meter.mark();
    await list(accountId, 60, 1);
    expect(service.front.meter.since(mark).rounds).toBe(3);
  });
});

test('each deletion adds exactly the bit of its file to the bitmap of its leaf', async () => {
  const accountId = await newAccount(service);
  const files = await placeAll(64, (seq) => place(accountId, 128 + seq));
  const removed = async () => {
    const Key = { account_id: { S: accountId }, id: { S: '#leaf#00000000002' } };
    const { Item } = await engine.send(new GetItemCommand({ TableName: tables.files, Key, ConsistentRead: true }));
    return BigInt(Item?.removed?.N ?? 0);
  };
  expect(await removed()).toBe(0n);
  const deletions = [0, 31, 32, 53, 62, 63];
  // Each twice at once: one of the two finds no file.
  const outcomes = await Promise.allSettled(
    [...deletions, ...deletions].map((seq) => deleteFile(stores, files[seq] as StoredFile, inTime())),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(deletions.length);
  expect(await removed()).toBe(deletions.reduce((sum, bit) => sum + 2n ** BigInt(bit), 0n));
  await eachOf(files, 4, (file) => deleteFile(stores, file, inTime()).catch(() => {}));
  expect(await removed()).toBe(2n ** 64n - 1n);
});

describe('a listing', () => {
  test('does not move a page for a file that arrived between its reads', async () => {
    const accountId = await newAccount(service);
    for (const seq of [0, 1, 2, 3, 4]) await place(accountId, seq);
    const late: typeof stores.listing = {
      ...stores.listing,
      removedByLeaf: async (id, group) => {
        await deleteFile(stores, await place(accountId, 5), inTime());
        await place(accountId, 6);
        return stores.listing.removedByLeaf(id, group);
      },
    };
    const { files, total } = await listFiles({ ...stores, listing: late }, { accountId, page: 2, limit: 3 });
    expect([files.map(({ name }) => name), total]).toEqual([['1', '0'], 5]);
  });

  test('has the files that were there when the account was read, and their number, on its first page', async () => {
    const accountId = await newAccount(service);
    for (const seq of [1, 2]) await place(accountId, seq);
    const late: typeof stores.listing = {
      ...stores.listing,
      files: async (...args) => {
        await place(accountId, 3);
        return stores.listing.files(...args);
      },
    };
    const { files, total } = await listFiles({ ...stores, listing: late }, { accountId, page: 1, limit: 50 });
    expect([files.map(({ name }) => name), total]).toEqual([['2', '1'], 2]);
  });

  test('continues below a group whose files are deleted between its reads', async () => {
    const accountId = await newAccount(service);
    await place(accountId, 5);
    const gone = await place(accountId, 9_000);
    await place(accountId, 20_000);
    const late = {
      ...stores.listing,
      removedByLeaf: async (id: string, group: number) => {
        await deleteFile(stores, gone, inTime());
        return stores.listing.removedByLeaf(id, group);
      },
    };
    const { files } = await listFiles({ ...stores, listing: late }, { accountId, page: 2, limit: 1 });
    expect(files.map(({ name }) => name)).toEqual(['5']);
  });
});

describe('a search', () => {
  test.each([
    ['STRASSE', 'Große Straße.txt'],
    ['straße', 'STRASSENKARTE.PDF'],
    ['ẞ', 'Straße'],
    ['όσ', 'ΚΌΣΜΟΣ.png'],
    ['κόσμος', 'ΚΌΣΜΟΣ.png'],
    ['ΚΌΣΜΟΣ', 'κόσμος'],
    ['cafe\u0301', 'Café.md'],
    ['CAFÉ', 'cafe\u0301.md'],
    ['ﬁle', 'A FILE'],
    ['ИВАН', 'иван.doc'],
    ['i̇stanbul', 'İSTANBUL'],
    ['istanbul', 'İSTANBUL'],
    ['ISTANBUL', 'i̇stanbul'],
    ['İSTANBUL', 'istanbul'],
    ['9.41.00 am', 'Screenshot 2026-11-25 at 9.41.00\u202fAM.png'],
    ['9.41.00\u202fAM', 'Screenshot 2026-11-25 at 9.41.00 AM.png'],
    ['a\u00a0b', 'a\u3000b'],
    ['.T', 'a.txt'],
    ['💩', 'a💩b'],
    ['%_*', '100%_*'],
  ])('a search for %s finds %s', async (search, name) => {
    const accountId = await newAccount(service);
    await place(accountId, 1, name);
    await place(accountId, 2, 'zzz');
    expect(await list(accountId, 1, 50, search)).toEqual({ names: [name], total: 1 });
  });

  test.each([
    ['cafe', 'Café'],
    ['ab', 'a b'],
    ['text/plain', 'a.txt'],
    ['uploads', 'a.txt'],
  ])('a search for %s does not find %s', async (search, name) => {
    const accountId = await newAccount(service);
    await place(accountId, 1, name);
    expect(await list(accountId, 1, 50, search)).toEqual({ names: [], total: 0 });
  });

  test('a search for a whole name finds it, however its accents are encoded', async () => {
    const accountId = await newAccount(service);
    const name = 'ΐ'.repeat(127);
    await place(accountId, 1, name);
    expect(await list(accountId, 1, 50, name.normalize('NFD'))).toEqual({ names: [name], total: 1 });
  });

  test('a search for a text that is longer than any name reads only the account', async () => {
    const accountId = await newAccount(service);
    await place(accountId, 1);
    const mark = service.front.meter.mark();
    const search = '\u0300\u0316'.repeat(2_000);
    expect(await list(accountId, 1, 50, search)).toEqual({ names: [], total: 0 });
    expect(service.front.meter.since(mark).calls.map(({ operation }) => operation)).toEqual(['GetItem']);
  });
});

test('groups whose files were all deleted are merged when the next group begins', async () => {
  const accountId = await newAccount(service);
  const removed = async () => [...((await stores.accounts.get(accountId))?.removed ?? [])].sort(([a], [b]) => a - b);
  await place(accountId, 5);
  await skipSeqs(engine, tables, accountId, 4 * 8_192);
  const before = await removed();
  expect(before).toEqual([
    [0, 8_191],
    [1, 8_192],
    [2, 8_192],
    [3, 8_192],
  ]);
  const { file } = await upload(service, accountId);
  const merged = [
    [0, 8_191],
    [1, 3 * 8_192],
  ];
  expect(await removed()).toEqual(merged);
  // A merge that arrives late changes nothing.
  await stores.accounts.mergeRemoved(accountId, before.slice(1, 3));
  expect(await removed()).toEqual(merged);
  for (const page of [1, 2]) expect((await list(accountId, page, 1)).names).toEqual([page === 1 ? file.name : '5']);
  const { differences } = await auditAccount({ audit: stores.audit, objects: { size: async () => 1 } }, accountId);
  expect(differences.map(({ what }) => what)).toEqual(['object']);
});
