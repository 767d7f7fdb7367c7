import { randomUUID } from 'node:crypto';
import { type AttributeValue, DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { CreateMultipartUploadCommand } from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { SHARDS } from '../../../shared/contract/limits.ts';
import { eachOf } from '../../../shared/each-of.ts';
import { cancelTicket } from '../../../shared/files/cancel-ticket.ts';
import { completeUpload } from '../../../shared/files/complete-upload.ts';
import { deleteFile } from '../../../shared/files/delete-file.ts';
import { firstEndOf } from '../../../shared/files/file.ts';
import { ALL_SHARDS, rangeOf, shardOf, shardsOf } from '../../../shared/files/shards.ts';
import { type SweepReport, sweep } from '../../../shared/files/sweep.ts';
import { sweepTickets } from '../../../shared/files/sweep-tickets.ts';
import { walkBucket } from '../../../shared/files/walk-bucket.ts';
import { skipSeqs } from '../../support/generated-files.ts';
import {
  HOUR_MS,
  inTime,
  newAccount,
  newTicket,
  put,
  sweepAll,
  sweepAt,
  sweepLater,
  upload,
  uploadDirectly,
} from './actions.ts';
import { expectBalance, forgetWalk, keysInBucket, openParts, statesOf, strayKeys, usageOf } from './observe.ts';
import { BUCKET, shardOfKey, startService } from './service.ts';

const service = await startService();
const { stores, front } = service;
/** More would make so many calls at the same time that a busy machine does not answer them in time. */
const SWEEPERS_AT_ONCE = 8;
const calls = (mark: number) => front.meter.since(mark);

/** A deleted file whose object and row still exist. */
async function halfDeleted(accountId: string) {
  const row = await stores.files.get((await upload(service, accountId)).file);
  if (row?.state !== 'ready') throw new Error('the file is not ready');
  await stores.releases.releaseFile(row, { now: Date.now(), dueAt: Date.now() }, inTime());
  return row;
}

/** An account with work of each kind, all of it due within the hour. It also has a ready file, the last of its leaf. */
async function unfinishedAccount() {
  const accountId = await newAccount(service);
  await skipSeqs(service.engine, service.tables, accountId, 62);
  const ref = (id: string) => ({ accountId, id });
  await put(await newTicket(service, accountId, 5), 'hello');
  await cancelTicket(stores, ref((await newTicket(service, accountId, 5)).id), inTime());
  await halfDeleted(accountId);
  const ticket = await newTicket(service, accountId, 5);
  await put(ticket, 'hello');
  const attempt = { objectKey: `uploads/${randomUUID()}`, until: Date.now() + 1_000 };
  await stores.tickets.beginAttempt(ref(ticket.id), attempt, Date.now());
  await uploadDirectly(service, accountId, 'ready', {});
  return accountId;
}

describe('a sweep', () => {
  test('finishes every kind of work, and reports what it did and how late it was', async () => {
    // A single read of the index shows all rows, or there are more and each shard is asked.
    for (const rows of [1_000, 1]) {
      const accountId = await unfinishedAccount();
      const budget = { rows, deadlineAt: Date.now() + HOUR_MS };
      const report = await sweep(stores, { now: Date.now() + HOUR_MS, budget });
      expect(report).toMatchObject({
        swept: { ticket: 2, cancelled: 1, deleted: 1, leftovers: 1, leaf: 1 },
        failed: 0,
        orphans: 0,
      });
      expect(report.lagSeconds).toBeGreaterThan(3_590);
      await expectBalance(service, accountId, { files: 1, bytes: 5 });
    }
  });

  test.each([
    ['a ticket', (accountId: string) => newTicket(service, accountId, 5)],
    ['a deletion', halfDeleted],
  ])('that has no time for %s still says how late it is', async (_, leave) => {
    const accountId = await newAccount(service);
    await leave(accountId);
    const now = Date.now() + HOUR_MS;
    const report = await sweep(stores, { now, budget: { rows: 1_000, deadlineAt: Date.now() } });
    expect(report.swept).toEqual({ ticket: 0, cancelled: 0, deleted: 0, leftovers: 0, leaf: 0 });
    // A ticket ends some twenty minutes after it was made.
    expect(report.lagSeconds).toBeGreaterThan(2_000);
    await sweepLater(service, accountId);
  });

  test('logs a ticket that became no file, with its account and the number of attempts', async () => {
    const accountId = await newAccount(service);
    const { id } = await newTicket(service, accountId, 5);
    const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    onTestFinished(() => written.mockRestore());
    await sweepAt(service, Date.now() + HOUR_MS, accountId);
    const lines = written.mock.calls.map(([line]) => JSON.parse(String(line)) as Record<string, unknown>);
    expect(lines.filter(({ resource_id }) => resource_id === id)).toEqual([
      {
        level: 'info',
        message: 'ticket ended without a file',
        account_id: accountId,
        resource_id: id,
        expected_bytes: 5,
        attempts: 0,
        detail: 'no attempt began; usually no PUT has succeeded',
      },
    ]);
  });

  test('a sweep without work reads next to nothing, and reports no lag', async () => {
    const accountId = await newAccount(service);
    for (const content of ['a', 'b', 'c']) await upload(service, accountId, content);
    await newTicket(service, accountId, 1);
    const mark = front.meter.mark();
    const report = await sweepAll(service, Date.now());
    expect(report).toMatchObject({ failed: 0, lagSeconds: 0 });
    const { readUnits, writeUnits } = calls(mark);
    // Half a unit for each empty partition of tickets, and for the index; the rows of the walk are read strongly.
    expect({ readUnits, writeUnits }).toEqual({ readUnits: (ALL_SHARDS.length + 1) * 0.5 + 3, writeUnits: 0 });
    await sweepLater(service, accountId);
  });

  test('needs one write unit to end a ticket that became a file', async () => {
    const accountId = await newAccount(service);
    const later = Date.now() + HOUR_MS;
    // This sweep walks the bucket, so that the next one does not.
    await sweepAt(service, later, accountId);
    await uploadDirectly(service, accountId, 'hello');
    const mark = front.meter.mark();
    expect((await sweepAt(service, later, accountId)).swept.leftovers).toBe(1);
    expect(calls(mark).writeUnits).toBe(1);
    await expectBalance(service, accountId, { files: 1, bytes: 5 });
  });

  test('does each piece of work once, also when several sweepers run at the same time', async () => {
    const accounts = await Promise.all(Array.from({ length: 6 }, unfinishedAccount));
    const now = Date.now() + HOUR_MS;
    const reports = await Promise.all([1, 2, 3].map(() => sweepAll(service, now)));
    const done = { ticket: 12, cancelled: 6, deleted: 6, leaf: 6 };
    // On a busy machine the answer to a write may come too late. Then nobody knows who did the work, and nobody counts it.
    const unknown = reports.reduce((sum, { failed }) => sum + failed, 0);
    for (const [kind, times] of Object.entries(done) as [keyof typeof done, number][]) {
      const counted = reports.reduce((sum, { swept }) => sum + swept[kind], 0);
      expect(counted).toBeLessThanOrEqual(times);
      expect(counted + unknown).toBeGreaterThanOrEqual(times);
    }
    if (unknown > 0) await sweepAll(service, now + HOUR_MS);
    for (const accountId of accounts) await expectBalance(service, accountId, { files: 1, bytes: 5 });
  });

  test('goes on after a row that fails, and tries that row again later', async () => {
    const [poisoned, other] = [await newAccount(service), await newAccount(service)];
    const { objectKey } = await halfDeleted(poisoned);
    await halfDeleted(other);
    const isPoison = ({ key }: { key?: string }) => key === objectKey;
    const fault = front.faults.add({
      match: { operation: 'DeleteObject', predicate: isPoison },
      effect: 'error-before',
    });
    const now = Date.now() + HOUR_MS;
    expect(await sweepAt(service, now, poisoned, other)).toMatchObject({ swept: { deleted: 1 }, failed: 1 });
    await expectBalance(service, other, { files: 0, bytes: 0 });
    // The lease of the failed sweep keeps other sweepers away from the row for a while, as the lease of a dead sweeper would.
    expect(await sweepAt(service, now, poisoned, other)).toMatchObject({ failed: 0, lagSeconds: 0 });
    fault.remove();
    expect(await sweepAt(service, now + 5 * 60_000, poisoned)).toMatchObject({ swept: { deleted: 1 }, failed: 0 });
    await expectBalance(service, poisoned, { files: 0, bytes: 0 });
  });

  test('goes on while there is work, and begins nothing when its time is over', async () => {
    const accountId = await newAccount(service);
    for (let i = 0; i < 5; i++) await newTicket(service, accountId, 1);
    const now = Date.now() + HOUR_MS;
    const sweepUntil = (deadlineAt: number) =>
      sweep(stores, { now, shards: [shardOf(accountId)], budget: { rows: 2, deadlineAt } });
    expect((await sweepUntil(Date.now())).swept.ticket).toBe(0);
    expect((await sweepUntil(Date.now() + HOUR_MS)).swept.ticket).toBe(5);
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });

  test('ends a ticket whose account is gone, as after the restore of the accounts table', async () => {
    const accountId = await newAccount(service);
    await put(await newTicket(service, accountId, 5), 'hello');
    await service.engine.send(
      new DeleteItemCommand({ TableName: service.tables.accounts, Key: { id: { S: accountId } } }),
    );
    expect(await sweepAt(service, Date.now() + HOUR_MS, accountId)).toMatchObject({ swept: { ticket: 1 }, failed: 0 });
    expect(await statesOf(service, accountId)).toEqual([]);
    expect(await strayKeys(service, accountId)).toEqual([]);
  });

  test('removes the parts of a copy that died before they became an object', async () => {
    const accountId = await newAccount(service);
    const { id } = await newTicket(service, accountId, 5);
    const attempt = { objectKey: `uploads/${randomUUID()}`, until: Date.now() + 1_000 };
    await stores.tickets.beginAttempt({ accountId, id }, attempt, Date.now());
    const Key = attempt.objectKey;
    await service.s3.send(new CreateMultipartUploadCommand({ Bucket: BUCKET, Key }));
    await service.s3.send(new CreateMultipartUploadCommand({ Bucket: BUCKET, Key }));
    expect((await openParts(service)).filter((key) => key === Key)).toHaveLength(2);
    await sweepLater(service, accountId);
    expect(await openParts(service)).not.toContain(Key);
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });

  test('never succeeds together with a completion of the same ticket', async () => {
    const accountId = await newAccount(service);
    const ids = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const ticket = await newTicket(service, accountId, 1);
        await put(ticket, 'x');
        return ticket.id;
      }),
    );
    const now = Date.now() + HOUR_MS;
    const [report, ...completed] = await Promise.all([
      sweepAt(service, now, accountId),
      ...ids.map((id) =>
        completeUpload(stores, { accountId, id }, inTime()).then(
          () => 1,
          () => 0,
        ),
      ),
    ]);
    const files = completed.reduce<number>((sum, one) => sum + one, 0);
    expect(files + report.swept.ticket).toBe(8);
    await sweepAt(service, now + HOUR_MS, accountId);
    await expectBalance(service, accountId, { files, bytes: files });
  });
});

describe('a sweep that meets a request', () => {
  /** Sweeps the tickets of an account, and runs something else right after the sweeper has read them. */
  async function sweepTicketsOf(accountId: string, now: number, meanwhile = async (): Promise<unknown> => undefined) {
    async function* endedAt(shard: number, time: number, rows: number) {
      for await (const ended of stores.tickets.endedAt(shard, time, rows)) {
        const own = ended.filter((ticket) => ticket.accountId === accountId);
        if (own.length > 0) await meanwhile();
        yield own;
      }
    }
    const tickets = { ...stores.tickets, endedAt };
    return sweepTickets({ ...stores, tickets }, { now, rows: 1_000, shards: [shardOf(accountId)], ...inTime() });
  }

  const ask = (accountId: string, now: number) =>
    newTicket(service, accountId, 5, { idempotencyKey: 'k', clock: () => now });

  test.each(['before', 'after'])('leaves alone a ticket that is renewed %s the sweeper has read it', async (when) => {
    const accountId = await newAccount(service);
    const now = Date.now();
    const { id } = await ask(accountId, now - HOUR_MS);
    const renew = () => ask(accountId, now);
    if (when === 'before') await renew();
    expect(await sweepTicketsOf(accountId, now, renew)).toMatchObject({ ticket: 0, failed: 0 });
    const ticket = await ask(accountId, now);
    expect(ticket.id).toBe(id);
    await put(ticket, 'hello');
    await completeUpload(stores, { accountId, id }, inTime());
    await sweepLater(service, accountId);
    await expectBalance(service, accountId, { files: 1, bytes: 5 });
  });

  test('removes the copy of an attempt that began after the sweeper has read the ticket', async () => {
    const accountId = await newAccount(service);
    const ref = { accountId, id: (await newTicket(service, accountId, 5)).id };
    const objectKey = `uploads/${randomUUID()}`;
    const now = Date.now();
    const beginAttempt = async () => {
      expect(await stores.tickets.beginAttempt(ref, { objectKey, until: now }, now)).toBe('begun');
      await stores.objects.put(objectKey, Buffer.from('hello'), {
        owner: ref,
        mimeType: 'text/plain',
        contentDisposition: 'inline',
      });
    };
    expect(await sweepTicketsOf(accountId, now + HOUR_MS, beginAttempt)).toMatchObject({ ticket: 1, failed: 0 });
    expect(await keysInBucket(service)).not.toContain(objectKey);
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });

  test('lets the next request with the same key get a new ticket after the sweep has released the first ticket', async () => {
    const accountId = await newAccount(service);
    const now = Date.now();
    const { id } = await ask(accountId, now - HOUR_MS);
    expect(await sweepTicketsOf(accountId, now)).toMatchObject({ ticket: 1 });
    const ticket = await ask(accountId, now);
    expect(ticket.id).not.toBe(id);
    await cancelTicket(stores, { accountId, id: ticket.id }, inTime());
    await sweepLater(service, accountId);
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });
});

test.each([1, 3, SHARDS])(
  '%i sweepers together do all work once, and each key of the bucket is in one range',
  async (sweepers) => {
    const accounts = await Promise.all(Array.from({ length: 6 }, unfinishedAccount));
    const now = Date.now() + HOUR_MS;
    const all = Array.from({ length: sweepers }, (_, sweeper) => shardsOf({ sweeper, sweepers }));
    expect(all.flat().sort((a, b) => a - b)).toEqual(ALL_SHARDS);
    const budget = { rows: 1_000, deadlineAt: Date.now() + HOUR_MS };
    const reports = await eachOf(all, SWEEPERS_AT_ONCE, (shards) => sweep(stores, { now, shards, budget }));
    const done = (kind: keyof SweepReport['swept']) => reports.reduce((sum, { swept }) => sum + swept[kind], 0);
    expect([done('ticket'), done('cancelled'), done('deleted'), done('leaf')]).toEqual([12, 6, 6, 6]);
    for (const accountId of accounts) await expectBalance(service, accountId, { files: 1, bytes: 5 });
    // Keys at the bounds of the ranges as well.
    const bounds = ALL_SHARDS.flatMap((shard) => rangeOf(shard).to ?? []);
    for (const key of ['a', 'uploads/', 'v', ...bounds, ...bounds.map((bound) => `${bound}0`)]) {
      const ranges = ALL_SHARDS.map(rangeOf).filter(({ after = '', to = '\uffff' }) => key > after && key <= to);
      expect([key, ranges.length]).toEqual([key, 1]);
    }
  },
);

describe('the walk of the bucket', () => {
  beforeEach(() => forgetWalk(service));
  const DAYS = 24 * HOUR_MS;
  const description = (accountId: string, id: string) => ({
    owner: { accountId, id },
    mimeType: 'text/plain',
    contentDisposition: 'inline',
  });

  test('removes objects without a row when they are a day old, and keeps all others', async () => {
    const accountId = await newAccount(service);
    const { file } = await upload(service, accountId);
    const direct = await uploadDirectly(service, accountId, 'hello');
    await sweepLater(service, accountId);
    const wanted = [...(await keysInBucket(service)), 'notes/by-the-operator'];
    const stray = { accountId, id: randomUUID() };
    await stores.objects.put('uploads/stray', Buffer.from('x'), description(accountId, stray.id));
    // The row of this file exists, but refers to another object.
    await stores.objects.put('uploads/late', Buffer.from('x'), description(accountId, file.id));
    await stores.objects.put(`incoming/${accountId}/${stray.id}`, Buffer.from('x'), description(accountId, stray.id));
    await stores.objects.put(`incoming/${accountId}/${direct.id}`, Buffer.from('x'), description(accountId, direct.id));
    await stores.objects.put('notes/by-the-operator', Buffer.from('x'), description(accountId, stray.id));
    const now = Date.now();
    expect((await sweepAll(service, now + DAYS)).orphans).toBe(0);
    expect((await sweepAll(service, now + 2 * DAYS)).orphans).toBe(4);
    expect((await keysInBucket(service)).sort()).toEqual(wanted.sort());
    await stores.objects.remove('notes/by-the-operator');
    await expectBalance(service, accountId, { files: 2, bytes: 10 });
  });

  test('reads the owner of each object once in its life', async () => {
    const accountId = await newAccount(service);
    await upload(service, accountId);
    const now = Date.now();
    const heads: number[] = [];
    for (const days of [2, 3, 4]) {
      const mark = front.meter.mark();
      await sweepAll(service, now + days * DAYS);
      heads.push(calls(mark).calls.filter(({ operation }) => operation === 'HeadObject').length);
    }
    expect(heads[0]).toBeGreaterThan(0);
    expect(heads.slice(1)).toEqual([0, 0]);
  });

  test('checks again the next day what it could not check', async () => {
    const accountId = await newAccount(service);
    await stores.objects.put('uploads/stray', Buffer.from('x'), description(accountId, randomUUID()));
    const fault = front.faults.add({ match: { operation: 'HeadObject' }, effect: 'error-before' });
    const now = Date.now();
    const report = await sweepAll(service, now + 2 * DAYS);
    expect(report.failed).toBeGreaterThan(0);
    fault.remove();
    expect((await sweepAll(service, now + 3 * DAYS)).orphans).toBe(1);
  });

  test('checks again the next day what it could not check, although it has checked later pages', async () => {
    const [failing, later] = ['uploads/stray', 'uploads/strayed'];
    const owner = description(randomUUID(), randomUUID());
    for (const key of [failing, later]) await stores.objects.put(key, Buffer.from('x'), owner);
    const { small } = withSmallPages();
    const walk = (days: number) =>
      walkBucket(small, { now: now + days * DAYS, shards: [shardOfKey(failing)], deadlineAt: now + HOUR_MS });
    const now = Date.now();
    const match = { operation: 'HeadObject', predicate: ({ key }: { key?: string }) => key === failing };
    const fault = front.faults.add({ match, effect: 'error-before' });
    expect(await walk(2)).toMatchObject({ failed: 1, removed: 1 });
    fault.remove();
    expect(await walk(3)).toMatchObject({ failed: 0, removed: 1 });
  });

  test('counts as late from the day on at which its next walk should have begun', async () => {
    const begun = Date.now();
    const over = { startedAt: begun, isOver: true, checkedBefore: 0, until: begun, hasFailed: false };
    for (const shard of ALL_SHARDS) await stores.work.saveWalk(shard, over);
    const late = { now: begun + DAYS + HOUR_MS, shards: ALL_SHARDS };
    expect((await walkBucket(stores, { ...late, deadlineAt: Date.now() - 1 })).oldestDueAt).toBe(begun + DAYS);
    expect((await walkBucket(stores, { ...late, ...inTime() })).oldestDueAt).toBe(late.now);
  });

  test('removes parts that are older than a day', async () => {
    const now = Date.now();
    await service.s3.send(new CreateMultipartUploadCommand({ Bucket: BUCKET, Key: 'uploads/parts' }));
    await sweepAll(service, now + DAYS);
    expect(await openParts(service)).toEqual(['uploads/parts']);
    expect((await sweepAll(service, now + 2 * DAYS)).orphans).toBe(1);
    expect(await openParts(service)).toEqual([]);
  });

  /** Stores that list one object in each page, and the pages that were read: after which key each began. */
  function withSmallPages(meanwhile = async () => {}) {
    const pages: (string | undefined)[] = [];
    const inventory = { ...stores.inventory };
    inventory.page = async (after) => {
      pages.push(after);
      const page = await stores.inventory.page(after);
      await meanwhile();
      const [first] = page.objects;
      return first && page.objects.length > 1 ? { objects: [first], after: first.key } : page;
    };
    return { pages, small: { ...stores, inventory } };
  }

  test('goes through all pages in one sweep, and begins at most once a day', async () => {
    const accountId = await newAccount(service);
    for (const content of ['a', 'b']) await upload(service, accountId, content);
    const keys = (await keysInBucket(service)).sort();
    const { pages, small } = withSmallPages();
    const begun = Date.now() + 2 * DAYS;
    const sweepOnce = (now: number) => sweep(small, { now, budget: { rows: 16, deadlineAt: Date.now() + HOUR_MS } });
    await sweepOnce(begun);
    // Each range has a first page, and one more after each of its keys; the last key of the bucket has no page after it.
    const walked = [...ALL_SHARDS.map((shard) => rangeOf(shard).after), ...keys.slice(0, -1)];
    expect(new Set(pages)).toEqual(new Set(walked));
    const { length } = pages;
    await sweepOnce(begun);
    await sweepOnce(begun + DAYS - 1);
    expect(pages).toHaveLength(length);
    await sweepOnce(begun + DAYS);
    expect(pages).toHaveLength(2 * length);
  });

  test('begins no page when the time of the sweep is over, and the next sweep goes on with that page', async () => {
    const accountId = await newAccount(service);
    for (const content of ['a', 'b']) await upload(service, accountId, content);
    const keys = (await keysInBucket(service)).sort();
    // The clock stands still until a page was read; then the time is over.
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { pages, small } = withSmallPages(async () => void vi.setSystemTime(Date.now() + 250));
    const now = Date.now() + 2 * DAYS;
    const shards = [shardOfKey(keys[0] as string)];
    const sweepShortly = () => walkBucket(small, { now, shards, deadlineAt: Date.now() + 250 });
    const { after } = rangeOf(shards[0] as number);
    await sweepShortly();
    expect(pages).toEqual([after]);
    await sweepShortly();
    expect(pages).toEqual([after, keys[0]]);
  });
});

test('a deletion that cannot reach the bucket succeeds for the owner, and the sweeper finishes it', async () => {
  const accountId = await newAccount(service);
  const { file } = await upload(service, accountId);
  const deletedAt = Date.now();
  const fault = front.faults.add({ match: { operation: 'DeleteObject' }, effect: 'error-before' });
  await deleteFile(stores, file, inTime());
  fault.remove();
  expect(await statesOf(service, accountId)).toEqual(['deleting']);
  expect(await usageOf(service, accountId)).toEqual({ bytes: 0, files: 0 });
  await expect(deleteFile(stores, file, inTime())).rejects.toMatchObject({ code: 'not_found' });
  // The request may still be under way, so the sweeper leaves the row alone at first.
  expect(await sweepAt(service, deletedAt + 20_000, accountId)).toMatchObject({ swept: { deleted: 0 }, lagSeconds: 0 });
  expect(await sweepAt(service, Date.now() + HOUR_MS, accountId)).toMatchObject({ swept: { deleted: 1 }, failed: 0 });
  await expectBalance(service, accountId, { files: 0, bytes: 0 });
});

test('a shard of tickets that cannot be read does not stop the other work of the sweeper', async () => {
  const accountId = await newAccount(service);
  await halfDeleted(accountId);
  const tickets = {
    ...stores.tickets,
    endedAt: (shard: number, time: number, rows: number) => {
      if (shard === 0) throw new Error('a ticket without a name');
      return stores.tickets.endedAt(shard, time, rows);
    },
  };
  const now = Date.now() + HOUR_MS;
  const report = await sweep({ ...stores, tickets }, { now, budget: { rows: 100, deadlineAt: Date.now() + HOUR_MS } });
  expect(report).toMatchObject({ failed: 1, swept: { deleted: 1 } });
  await expectBalance(service, accountId, { files: 0, bytes: 0 });
});

test('a ticket whose row cannot be read does not stop the other tickets of its shard, nor the audit of other accounts', async () => {
  const accountId = await newAccount(service);
  const { id } = await newTicket(service, accountId, 5);
  await newTicket(service, accountId, 5, { clock: () => Date.now() + 1_000 });
  const neighbour = randomUUID().slice(0, -2) + accountId.slice(-2);
  await stores.accounts.upsert({ id: neighbour, email: 'neighbour@example.com', name: 'Neighbour' }, Date.now());
  const place = `${firstEndOf(id)}#${accountId}#${id}`;
  const setSize = (size: AttributeValue) =>
    service.engine.send(
      new UpdateItemCommand({
        TableName: service.tables.files,
        Key: { account_id: { S: `#tickets#${shardOf(accountId)}` }, id: { S: place } },
        UpdateExpression: 'SET size_bytes = :size',
        ConditionExpression: 'attribute_exists(id)',
        ExpressionAttributeValues: { ':size': size },
      }),
    );
  await setSize({ S: 'not a number' });
  const later = Date.now() + HOUR_MS;
  expect(await sweepAt(service, later, accountId)).toMatchObject({ swept: { ticket: 1 }, failed: 1 });
  expect(await usageOf(service, accountId)).toEqual({ bytes: 5, files: 0 });
  expect(await Array.fromAsync(stores.audit.tickets(neighbour))).toEqual([]);
  await setSize({ N: '5' });
  expect(await sweepAt(service, later, accountId)).toMatchObject({ swept: { ticket: 1 }, failed: 0 });
  await expectBalance(service, accountId, { files: 0, bytes: 0 });
});
