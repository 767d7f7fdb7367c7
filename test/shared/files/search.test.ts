import { inflateRawSync } from 'node:zlib';
import { DeleteItemCommand, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { auditAccount } from '../../../shared/administration/audit-account.ts';
import { reconcile } from '../../../shared/administration/reconcile.ts';
import { sealId } from '../../../shared/aws/file-items.ts';
import { deleteFile } from '../../../shared/files/delete-file.ts';
import type { ListedFile, StoredFile } from '../../../shared/files/file.ts';
import { listFiles } from '../../../shared/files/list-files.ts';
import { foldName, NAME_SEPARATOR } from '../../../shared/files/sealed-names.ts';
import { shardOf } from '../../../shared/files/shards.ts';
import { sweepRow } from '../../../shared/files/sweep.ts';
import { GENERATED_FILE_BYTES, generateFiles } from '../../support/generated-files.ts';
import { IS_THOROUGH } from '../../support/thorough.ts';
import { withFault } from '../../support/with-fault.ts';
import { HOUR_MS, inTime, newAccount, sweepAt, upload } from './actions.ts';
import { FAULTS, type Fault, faultsOfProduct, triedAt } from './faults.ts';
import { startService } from './service.ts';

const service = await startService();
const { stores, engine, tables } = service;
const applyFault = await faultsOfProduct();
const DAY_MS = 24 * HOUR_MS;

/** An account with files whose full leaves are sealed, as if they had been uploaded. @returns the files, oldest first. */
async function accountWith(count: number, nameOf = (seq: number) => `file ${String(seq).padStart(4, '0')}`) {
  const accountId = await newAccount(service);
  const files = await generateFiles(engine, tables, { accountId, count, nameOf });
  return { accountId, files: files.reverse() };
}

const add = async (accountId: string, clientName: string) =>
  (await upload(service, accountId, 'x'.repeat(GENERATED_FILE_BYTES), { clientName })).file;
const remove = (file: StoredFile) => deleteFile(stores, file, inTime());
/** Sweeps when the leaves that are full by now are due. */
const seal = (accountId: string) => sweepAt(service, Date.now() + 1_000, accountId);
/** Sweeps on each of the next three days, when the leaves with deleted files are due as well. */
const sealAll = async (accountId: string) => {
  for (const days of [1, 2, 3]) await sweepAt(service, Date.now() + days * DAY_MS + HOUR_MS, accountId);
};

async function search(accountId: string, part: string, { page = 1, limit = 100 } = {}, using = stores) {
  const { files, total } = await listFiles(using, { accountId, page, limit, search: part });
  return { names: files.map(({ name }) => name), total };
}

/** The calls and units of a search, without the read of the account. */
async function readsOf(work: () => Promise<unknown>) {
  const mark = service.front.meter.mark();
  await work();
  const { calls, readUnits, writeUnits } = service.front.meter.since(mark);
  return { calls: calls.length - 1, readUnits: readUnits - 1, writeUnits };
}

const sealAt = (accountId: string, leaf: number) => ({
  TableName: tables.files,
  Key: { account_id: { S: accountId }, id: { S: sealId(leaf) } },
});
/** The names in the seal of a leaf; undefined when it has none. */
async function sealedNames(accountId: string, leaf: number): Promise<string[] | undefined> {
  const { Item } = await engine.send(new GetItemCommand({ ...sealAt(accountId, leaf), ConsistentRead: true }));
  return Item?.folded?.B && inflateRawSync(Item.folded.B).toString('utf8').split(NAME_SEPARATOR);
}
const loseSeal = (accountId: string, leaf: number) => engine.send(new DeleteItemCommand(sealAt(accountId, leaf)));
/** Makes the seal of a leaf look as if another version of Unicode had folded its names. */
const foldBy = (unicode: string) => (accountId: string, leaf: number) =>
  engine.send(
    new UpdateItemCommand({
      ...sealAt(accountId, leaf),
      UpdateExpression: 'SET unicode = :version',
      ExpressionAttributeValues: { ':version': { S: unicode } },
    }),
  );

/** Generated files have no objects. */
const withoutObjects = { ...stores, objects: { ...stores.objects, size: async () => GENERATED_FILE_BYTES } };
/** Repairs an account that has lost seals, as the operator does. */
const repair = (accountId: string) => Array.fromAsync(reconcile(withoutObjects, { accountId, repair: true }));
const differencesOf = async (accountId: string) => (await auditAccount(withoutObjects, accountId)).differences;

describe('a search over sealed leaves', () => {
  const SPELLINGS = ['Straße', 'CAFÉ', 'cafe\u0301', 'ΚΌΣΜΟΣ', 'a b', '100%_*', '💩'];
  const nameOf = (seq: number) => `${SPELLINGS[seq % SPELLINGS.length]} ${seq}`;

  test.for([
    ['STRASSE', 0],
    ['Café', 1],
    ['cafe\u0301', 2],
    ['κόσμος', 3],
    ['A B', 4],
    ['%_', 5],
    ['💩', 6],
  ] as const)('a search for %s finds the same files with seals and without, page by page', async ([part, index]) => {
    const { accountId, files } = await accountWith(200, nameOf);
    const matches = files.filter(({ seq }) => seq % 7 === index || (/caf/i.test(part) && [1, 2].includes(seq % 7)));
    const names = matches.map(({ name }) => name.normalize('NFC')).reverse();
    for (const lost of [undefined, 1, 0]) {
      if (lost !== undefined) await loseSeal(accountId, lost);
      for (let page = 1; page <= 3; page++) {
        const found = await search(accountId, part, { page, limit: 23 });
        expect(found.total).toBe(names.length);
        expect(found.names.map((name) => name.normalize('NFC'))).toEqual(names.slice((page - 1) * 23, page * 23));
      }
    }
  });

  test('finds nothing for a text that spans two names, or that no name can have', async () => {
    const { accountId } = await accountWith(130);
    for (const part of ['file 4/file 5', '/', 'file 4file', 'file 1/']) {
      expect(await search(accountId, part)).toEqual({ names: [], total: 0 });
    }
  });

  test('reads together the files of a page that are near each other', async () => {
    const { accountId } = await accountWith(1_000);
    const nothing = await readsOf(() => search(accountId, 'no such name'));
    const all = await readsOf(() => search(accountId, 'file', { page: 3 }));
    expect(all.calls - nothing.calls).toBe(1);
    // 19 of 1,000 files match. Ten of them, 990 to 999, are next to each other.
    const few = await readsOf(() => search(accountId, '99', {}));
    expect(few.calls - nothing.calls).toBe(10);
  });

  test('hides a deleted file at once, and its name leaves the seal with the sweep of the next day', async () => {
    const { accountId, files } = await accountWith(130);
    const [gone, other, kept] = files.slice(7) as [ListedFile, ListedFile, ListedFile];
    await remove(gone);
    expect((await search(accountId, gone.name)).total).toBe(0);
    expect(await search(accountId, 'file', { limit: 1, page: 129 })).toEqual({ names: [files[0]?.name], total: 129 });
    expect(await sealedNames(accountId, 0)).toContain(gone.name);
    await remove(other);
    await sweepAt(service, Date.now() + DAY_MS - HOUR_MS, accountId);
    expect(await sealedNames(accountId, 0)).toContain(gone.name);
    await sweepAt(service, Date.now() + DAY_MS + HOUR_MS, accountId);
    const names = await sealedNames(accountId, 0);
    expect(names).not.toContain(gone.name);
    expect(names).not.toContain(other.name);
    expect(names).toContain(kept.name);
    expect((await search(accountId, 'file')).total).toBe(128);
    expect(await differencesOf(accountId)).toEqual([]);
  });

  test('finds a file from the moment of its upload, before and after its leaf is full and sealed', async () => {
    const { accountId } = await accountWith(60);
    for (let added = 0; added < 6; added++) {
      await add(accountId, `new ${added}`);
      expect((await search(accountId, 'NEW')).total).toBe(added + 1);
    }
    expect(await sealedNames(accountId, 0)).toBeUndefined();
    await seal(accountId);
    expect(await sealedNames(accountId, 0)).toContain('new 0');
    const names = ['new 5', 'new 4', 'new 3', 'new 2', 'new 1', 'new 0'];
    expect(await search(accountId, 'NEW')).toEqual({ names, total: 6 });
    expect(await differencesOf(accountId)).toEqual([]);
  });

  test('counts a file that is deleted while the search reads, but leaves it out of the page', async () => {
    const { accountId, files } = await accountWith(130);
    const late: typeof stores.seals = {
      ...stores.seals,
      states: async (...args) => {
        const states = await stores.seals.states(...args);
        await remove(files[20] as ListedFile);
        return states;
      },
    };
    const { names, total } = await search(accountId, 'file 002', {}, { ...stores, seals: late });
    expect(total).toBe(10);
    expect(names).toHaveLength(9);
  });

  test('finds a file that arrives while it reads', async () => {
    const { accountId } = await accountWith(130);
    const late: typeof stores.listing = {
      ...stores.listing,
      files: async (...args) => {
        if (args[1].high === Number.MAX_SAFE_INTEGER) await add(accountId, 'late');
        return stores.listing.files(...args);
      },
    };
    expect(await search(accountId, 'late', {}, { ...stores, listing: late })).toEqual({ names: ['late'], total: 1 });
  });

  test('needs a call for each file of a page that is far from the next one', async () => {
    const { accountId, files } = await accountWith(640, (seq) => (seq % 64 === 5 ? `far ${seq}` : 'near'));
    const far = files.filter(({ name }) => name.startsWith('far')).reverse();
    const names = far.map(({ name }) => name);
    const nothing = await readsOf(() => search(accountId, 'no such name'));
    const callsOfPage = async () => {
      const { calls } = await readsOf(async () => {
        expect(await search(accountId, 'FAR')).toEqual({ names, total: names.length });
      });
      return calls - nothing.calls;
    };
    expect(await callsOfPage()).toBe(10);
    await remove(far[0] as ListedFile);
    names.shift();
    expect(await callsOfPage()).toBe(9);
  });
});

describe('leaves whose seals a search cannot read', () => {
  const LEAVES = Array.from({ length: 10 }, (_, leaf) => leaf);
  /** An account with ten full leaves whose seals were spoilt. @returns also the reads of a search before that. */
  async function accountWithSpoilt(spoil: (accountId: string, leaf: number) => Promise<unknown>) {
    const { accountId } = await accountWith(64 * LEAVES.length);
    const readable = await readsOf(() => search(accountId, 'FILE 00'));
    await Promise.all(LEAVES.map((leaf) => spoil(accountId, leaf)));
    return { accountId, readable };
  }
  const dueLeaves = async (accountId: string) => (await stores.audit.sealing(accountId)).unfinished;

  test.for([
    ['folded by an older version of Unicode', foldBy('1.1'), [{ what: 'unreadable seals', leaves: LEAVES }]],
    ['folded by a newer version of Unicode', foldBy('99.0'), [{ what: 'unreadable seals', leaves: LEAVES }]],
    ['lost', loseSeal, LEAVES.map((leaf) => ({ what: 'seal', leaf }))],
  ] as const)(
    'become due a few at a time, and are written by the sweeper, when they were %s',
    async ([, spoil, differences]) => {
      const { accountId, readable } = await accountWithSpoilt(spoil);
      expect(await differencesOf(accountId)).toEqual(differences);
      let searches = 0;
      for (let due = 0; due < LEAVES.length; searches++) {
        expect((await search(accountId, 'FILE 00')).total).toBe(100);
        const before = due;
        due = (await dueLeaves(accountId)).size;
        expect(due).toBeGreaterThan(before);
      }
      expect(searches).toBeGreaterThan(1);
      // A leaf that is due already is left alone, and so is a lease on it.
      const { writeUnits } = await readsOf(() => search(accountId, 'FILE 00'));
      expect(writeUnits).toBe(0);
      await seal(accountId);
      expect(await differencesOf(accountId)).toEqual([]);
      expect(await readsOf(() => search(accountId, 'FILE 00'))).toEqual(readable);
    },
  );

  test('are written by the sweeper after the operator has reconciled the account', async () => {
    const { accountId } = await accountWithSpoilt(foldBy('1.1'));
    const [report] = await repair(accountId);
    expect(report).toMatchObject({ isRepaired: true, differences: [{ what: 'unreadable seals' }] });
    await seal(accountId);
    expect(await differencesOf(accountId)).toEqual([]);
  });

  test('become due once when several searches meet them at once, and a search is right when that fails', async () => {
    const { accountId } = await accountWithSpoilt(foldBy('1.1'));
    const find = async () => expect((await search(accountId, 'FILE 00')).total).toBe(100);
    await withFault(service, { match: { operation: 'TransactWriteItems' }, effect: 'error-before' }, find);
    expect((await dueLeaves(accountId)).size).toBe(0);
    await Promise.all([find(), find(), find()]);
    await seal(accountId);
    while ((await differencesOf(accountId)).length > 0) await find().then(() => seal(accountId));
  });

  test('stay as they are when the account is suspended, so nothing is left behind when it is deleted', async () => {
    const { accountId } = await accountWithSpoilt(foldBy('1.1'));
    await engine.send(
      new UpdateItemCommand({
        TableName: tables.accounts,
        Key: { id: { S: accountId } },
        UpdateExpression: 'SET suspended = :yes',
        ExpressionAttributeValues: { ':yes': { BOOL: true } },
      }),
    );
    expect((await search(accountId, 'FILE 00')).total).toBe(100);
    expect((await dueLeaves(accountId)).size).toBe(0);
  });
});

describe('the seal of a leaf', () => {
  test('is written after the lease has ended, if a deletion made the first attempt fail', async () => {
    const { accountId, files } = await accountWith(63);
    await add(accountId, 'last');
    const late: typeof stores.seals = {
      ...stores.seals,
      seal: async (...args) => {
        await remove(files[5] as ListedFile);
        return stores.seals.seal(...args);
      },
    };
    const now = Date.now() + 1_000;
    await sweepAt({ ...service, stores: { ...stores, seals: late } }, now, accountId);
    expect(await sealedNames(accountId, 0)).toBeUndefined();
    expect((await search(accountId, 'file')).total).toBe(62);
    await sweepAt(service, now + 6 * 60_000, accountId);
    expect(await sealedNames(accountId, 0)).toContain('last');
    expect(await sealedNames(accountId, 0)).not.toContain(files[5]?.name);
  });

  /** Tries a fault at the nth call of the writer of seals. @returns false when the writer makes fewer calls. */
  async function tryFault(fault: Fault, nth: number): Promise<boolean> {
    const { accountId, files } = await accountWith(66);
    await remove(files[3] as ListedFile);
    const due = await stores.work.due(shardOf(accountId), Date.now() + 2 * DAY_MS, 100);
    const item = due.find((one) => one.accountId === accountId);
    if (!item) throw new Error('the leaf is not in the index of unfinished work');
    const now = Date.now() + 2 * DAY_MS;
    const { calls, happenLate } = await applyFault(fault, nth, () => sweepRow(stores, item, now), {
      mayNotApply: true,
    });
    if (calls < nth) return false;
    const trial = { fault, nth };
    expect({ trial, total: (await search(accountId, 'file')).total }).toEqual({ trial, total: 65 });
    await remove(files[4] as ListedFile);
    await sealAll(accountId);
    await happenLate();
    expect({ trial, total: (await search(accountId, 'file')).total }).toEqual({ trial, total: 64 });
    await sealAll(accountId);
    const names = await sealedNames(accountId, 0);
    expect(names).not.toContain(files[3]?.name);
    expect(names).not.toContain(files[4]?.name);
    expect(names).toContain(files[5]?.name);
    expect({ trial, differences: await differencesOf(accountId) }).toEqual({ trial, differences: [] });
    return true;
  }

  test('is right in the end, and no search is ever wrong, whatever fault its writer has at any call', async () => {
    let wasApplied = true;
    for (let nth = 1; wasApplied; nth++) {
      for (const fault of triedAt(nth)) wasApplied = await tryFault(fault, nth);
      expect(wasApplied || nth > 3).toBe(true);
    }
  });
});

/** What a client knows of its files, by id. A file whose upload or deletion was not answered may exist or not. */
class Model {
  readonly there = new Map<string, StoredFile>();
  /** Deletions that have begun, whatever was answered. */
  readonly deleting = new Set<string>();
  /** Deletions that were answered with success. */
  readonly gone = new Set<string>();
  /** The names of uploads that have begun and were not answered with success. */
  readonly uploading: string[] = [];

  matching(part: string): StoredFile[] {
    return [...this.there.values()].filter(({ name }) => foldName(name).includes(part));
  }
}

describe('a search compared with a model', () => {
  const name = fc.constantFrom('a', 'B', 'ab', 'Ab ß', 'STRASSE', 'é', 'x');
  const part = fc.constantFrom('a', 'b', 'SS', 'É', 'x');
  const action = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('upload' as const), name }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('delete' as const), which: fc.nat() }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('search' as const), part, limit: fc.constantFrom(5, 100) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('sweep' as const), days: fc.constantFrom(0, 2, 4) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('lose the seal' as const) }) },
  );
  type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;
  const anyFault = fc.option(fc.record({ fault: fc.constantFrom(...FAULTS), nth: fc.integer({ min: 1, max: 12 }) }));
  const step = fc.array(fc.tuple(action, anyFault), { minLength: 1, maxLength: 5 });

  async function act(accountId: string, model: Model, what: Action): Promise<void> {
    if (what.do === 'upload') {
      model.uploading.push(what.name);
      const file = await add(accountId, what.name);
      model.there.set(file.id, file);
      model.uploading.splice(model.uploading.indexOf(what.name), 1);
    } else if (what.do === 'delete') {
      const file = [...model.there.values()][what.which % model.there.size];
      if (!file || model.deleting.has(file.id)) return;
      model.deleting.add(file.id);
      await remove(file);
      model.gone.add(file.id);
    } else if (what.do === 'search') {
      await searchAndCompare(accountId, model, what);
    } else if (what.do === 'sweep') {
      await sweepAt(service, Date.now() + what.days * DAY_MS + 1_000, accountId);
    } else {
      await loseSeal(accountId, 0);
    }
  }

  async function searchAndCompare(
    accountId: string,
    model: Model,
    how: { part: string; limit: number },
  ): Promise<void> {
    const folded = foldName(how.part);
    const before = model.matching(folded);
    const goneBefore = new Set(model.gone);
    const { files, total } = await listFiles(stores, { accountId, page: 1, limit: how.limit, search: how.part });
    const certain = before.filter(({ id }) => !model.deleting.has(id));
    const possible = model.matching(folded).filter(({ id }) => !goneBefore.has(id)).length;
    const uploading = model.uploading.filter((one) => foldName(one).includes(folded)).length;
    const ids = files.map(({ id }) => id);
    expect(total).toBeGreaterThanOrEqual(certain.length);
    expect(total).toBeLessThanOrEqual(possible + uploading);
    expect(ids.filter((id) => goneBefore.has(id))).toEqual([]);
    expect(files.filter((file) => !foldName(file.name).includes(folded))).toEqual([]);
    if (total <= how.limit) expect(ids).toEqual(expect.arrayContaining(certain.map(({ id }) => id)));
    const seqs = files.map((file) => (file as ListedFile).seq);
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => b - a));
  }

  test('never misses an acknowledged upload and never shows a deleted file, whatever happens at once', async () => {
    const property = fc.asyncProperty(
      fc.integer({ min: 56, max: 70 }),
      fc.array(step, { minLength: 6, maxLength: 12 }),
      async (count, steps) => {
        const names = ['a', 'B', 'ab', 'Ab ß', 'STRASSE', 'é', 'x'];
        const { accountId, files } = await accountWith(count, (seq) => names[seq % names.length] ?? '');
        const model = new Model();
        for (const file of files) model.there.set(file.id, file);
        const failures: unknown[] = [];
        const late: (() => Promise<void>)[] = [];
        for (const actions of steps) {
          const outcomes = await Promise.all(
            actions.map(([what, bad]) =>
              applyFault(
                bad?.fault ?? 'dies before',
                bad?.nth ?? Number.POSITIVE_INFINITY,
                () =>
                  act(accountId, model, what).catch((error) => {
                    if (error.name === 'AssertionError') failures.push(error);
                    throw error;
                  }),
                { mayNotApply: true },
              ),
            ),
          );
          // A late call of one step takes effect after the next step.
          await Promise.all(late.splice(0).map((happenLate) => happenLate()));
          late.push(...outcomes.map(({ happenLate }) => happenLate));
          expect(failures).toEqual([]);
        }
        await Promise.all(late.map((happenLate) => happenLate()));
        await repair(accountId);
        await sealAll(accountId);
        expect(await differencesOf(accountId)).toEqual([]);
        for (const one of names) await searchAndCompare(accountId, model, { part: one, limit: 100 });
      },
    );
    await fc.assert(property, { numRuns: IS_THOROUGH ? 10 : 2, endOnFailure: true });
  });
});
