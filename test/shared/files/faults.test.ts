import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { auditAccount } from '../../../shared/administration/audit-account.ts';
import { eachOf } from '../../../shared/each-of.ts';
import { cancelTicket } from '../../../shared/files/cancel-ticket.ts';
import { completeArrivedUpload, completeUpload } from '../../../shared/files/complete-upload.ts';
import { deleteFile } from '../../../shared/files/delete-file.ts';
import type { StoredFile } from '../../../shared/files/file.ts';
import { getFile } from '../../../shared/files/file-record.ts';
import { incomingKey } from '../../../shared/files/object-key.ts';
import { PART_BYTES } from '../../../shared/files/parts.ts';
import { settleUpload } from '../../../shared/files/settle-upload.ts';
import { shardOf } from '../../../shared/files/shards.ts';
import { sweepRow } from '../../../shared/files/sweep.ts';
import { sweepTickets } from '../../../shared/files/sweep-tickets.ts';
import { walkBucket } from '../../../shared/files/walk-bucket.ts';
import { IS_THOROUGH } from '../../support/thorough.ts';
import {
  ACCOUNT_LIMITS,
  askForTicket,
  broken,
  chunks,
  HOUR_MS,
  inTime,
  newAccount,
  newTicket,
  put,
  stage,
  sweepAll,
  sweepAt,
  upload,
} from './actions.ts';
import { faultsOfProduct, triedAt } from './faults.ts';
import { forgetWalk, statesOf, strayKeys } from './observe.ts';
import { shardOfKey, startService } from './service.ts';

/** Tries a fault at every call to AWS that a use case makes. After the sweeps that follow, the books must balance. */

const service = await startService();
const { stores } = service;
const applyFault = await faultsOfProduct();

interface Scenario {
  /** Prepares an account. @returns the work that is run with a fault. */
  readonly begin: (accountId: string) => Promise<() => Promise<unknown>>;
  /** The number of files of the account after a success. */
  readonly files: number;
  /**
   * The numbers of files that the account may have after an error: by default 0; more are possible if the failed call may have taken
   * effect.
   */
  readonly afterError?: readonly number[];
  /** True when the work uploads a form. Then its object and parts may have no row, and the walk of the bucket removes them. */
  readonly isForm?: true;
  /** Does the work again under the same `Idempotency-Key`. Then the account has exactly this file, whatever the fault was. */
  readonly retry?: (accountId: string) => Promise<StoredFile>;
}

const SCENARIOS: Record<string, Scenario> = {
  'a small upload': {
    begin: async (accountId) => () => upload(service, accountId),
    files: 1,
    isForm: true,
    afterError: [0, 1],
  },
  'a large upload': {
    begin: async (accountId) => () => upload(service, accountId, LARGE),
    files: 1,
    isForm: true,
    afterError: [0, 1],
  },
  'a large upload that breaks off': {
    begin: async (accountId) => () => stage(service, accountId, broken(LARGE, new Error('the client has left'))),
    files: 0,
    isForm: true,
  },
  'an upload and its deletion': {
    begin: async (accountId) => async () => deleteFile(stores, (await upload(service, accountId)).file, inTime()),
    files: 0,
    isForm: true,
    afterError: [0, 1],
  },
  'a direct upload and its deletion': {
    begin: async (accountId) => {
      const ref = await arrived(accountId);
      return async () => deleteFile(stores, await completeUpload(stores, ref, inTime()), inTime());
    },
    files: 0,
    afterError: [0, 1],
  },
  'the renewal of a ticket': {
    begin: async (accountId) => {
      await askForTicket(service, accountId, 5, { idempotencyKey: 'k' });
      return () => askForTicket(service, accountId, 5, { idempotencyKey: 'k' });
    },
    files: 0,
  },
  'an upload with a key': {
    begin: async (accountId) => () => upload(service, accountId, 'hello', KEY),
    files: 1,
    isForm: true,
    retry: async (accountId) => (await upload(service, accountId, 'hello', KEY)).file,
  },
  'a large upload with a key': {
    begin: async (accountId) => () => upload(service, accountId, LARGE, KEY),
    files: 1,
    isForm: true,
    retry: async (accountId) => (await upload(service, accountId, LARGE, KEY)).file,
  },
  'an upload that is refused when it is settled': {
    begin: async (accountId) => {
      const staged = await stage(service, accountId, chunks('hello'));
      if (staged.kind !== 'stored') throw new Error('the content was not stored');
      return () =>
        settleUpload(
          stores,
          { ...staged, allowance: { ...staged.allowance, limits: { ...ACCOUNT_LIMITS, storageLimitBytes: 4 } } },
          inTime(),
        );
    },
    files: 0,
    isForm: true,
  },
  'a deletion': {
    begin: async (accountId) => {
      const { file } = await upload(service, accountId);
      return () => deleteFile(stores, file, inTime());
    },
    files: 0,
    afterError: [0, 1],
  },
  'a ticket': {
    begin: async (accountId) => () => askForTicket(service, accountId, 5, { idempotencyKey: 'k' }),
    files: 0,
  },
  'the completion of a direct upload': {
    begin: async (accountId) => {
      const ref = await arrived(accountId);
      return () => completeUpload(stores, ref, inTime());
    },
    files: 1,
    afterError: [0, 1],
  },
  'the event of a direct upload': {
    begin: async (accountId) => {
      const ref = await arrived(accountId);
      return () => completeArrivedUpload(stores, incomingKey(ref), inTime());
    },
    files: 1,
    afterError: [0, 1],
  },
  'the cancellation of a ticket whose bytes arrived': {
    begin: async (accountId) => {
      const ref = await arrived(accountId);
      return () => cancelTicket(stores, ref, inTime());
    },
    files: 0,
  },
  'the sweep of a ticket whose bytes arrived': {
    begin: async (accountId) => {
      await arrived(accountId);
      return () => sweepWorkOf(accountId);
    },
    files: 0,
  },
  'the sweep of a cancelled ticket': {
    begin: async (accountId) => {
      await cancelTicket(stores, await arrived(accountId), inTime());
      return () => sweepWorkOf(accountId);
    },
    files: 0,
  },
  'the sweep of a deletion': {
    begin: async (accountId) => {
      const { file } = await upload(service, accountId);
      const row = await stores.files.get(file);
      if (row?.state !== 'ready') throw new Error('the file is not ready');
      await stores.releases.releaseFile(row, { now: Date.now(), dueAt: Date.now() }, inTime());
      return () => sweepWorkOf(accountId);
    },
    files: 0,
  },
};
const LARGE = randomBytes(PART_BYTES + 1);
const KEY = { idempotencyKey: 'k' };

/** A ticket whose bytes have arrived. */
async function arrived(accountId: string) {
  const ticket = await newTicket(service, accountId, 5, { idempotencyKey: randomUUID() });
  expect(await put(ticket, 'hello')).toBe(200);
  return { accountId, id: ticket.id };
}

/** Sweeps only the deleted files and the tickets of the account. */
async function sweepWorkOf(accountId: string): Promise<void> {
  const now = Date.now() + HOUR_MS;
  for await (const { id } of stores.audit.rows(accountId)) {
    const due = await stores.work.due(shardOf(accountId), now, 1_000);
    const item = due.find((one) => one.id === id);
    if (item) await sweepRow(stores, item, now);
  }
  async function* ofAccount(shard: number, time: number, rows: number) {
    for await (const ended of stores.tickets.endedAt(shard, time, rows)) {
      yield ended.filter((ticket) => ticket.accountId === accountId);
    }
  }
  const tickets = { ...stores.tickets, endedAt: ofAccount };
  // Only the shard of the account is swept, because a fault at the read of another shard would have the same effect.
  await sweepTickets({ ...stores, tickets }, { now, rows: 1_000, shards: [shardOf(accountId)], ...inTime() });
}

/** When a late call takes effect: after its work, or after the sweep that follows. */
const LATENESS = IS_THOROUGH ? (['after the work', 'after the sweeper'] as const) : (['after the work'] as const);

/** Tries each fault at each call that the work makes: many at the same time, each in an account of its own. */
async function tryEverywhere({ begin, files, afterError = [0], retry }: Scenario) {
  const { calls } = await applyFault('dies before', Number.POSITIVE_INFINITY, await begin(await newAccount(service)));
  const nths = Array.from({ length: calls }, (_, index) => index + 1);
  const trials = nths.flatMap((nth) =>
    triedAt(nth).flatMap((fault) =>
      (fault.endsWith('late') ? LATENESS : (['never'] as const)).map((late) => ({ fault, late, nth })),
    ),
  );
  return eachOf(trials, 48, async (trial) => {
    const accountId = await newAccount(service);
    const { end, lateKey, happenLate } = await applyFault(trial.fault, trial.nth, await begin(accountId));
    if (trial.late === 'after the work') await happenLate();
    const retried = await retry?.(accountId);
    const possible = retried ? [1] : { success: [files], error: afterError, death: [0, 1], pause: [] }[end];
    return { accountId, possible, retried, lateKey, happenLate, trial: { ...trial, end } };
  });
}

/**
 * The walks share the bucket and their state, so they run one after the other. They run first, while the bucket is empty, because a
 * walk makes a call for each object.
 */
test('a walk of the bucket that has a fault at any call is finished by the next', async () => {
  const later = Date.now() + 48 * HOUR_MS;
  const walk = () => walkBucket(stores, { now: later, shards, ...inTime() });
  const accountId = await newAccount(service);
  const { file } = await upload(service, accountId);
  const leaveStray = () =>
    stores.objects.put(`uploads/stray-${randomUUID()}`, Buffer.from('x'), {
      owner: { accountId, id: randomUUID() },
      mimeType: 'text/plain',
      contentDisposition: 'inline',
    });
  await leaveStray();
  // Only these two ranges are walked, because a fault in another range would have the same effect.
  const shards = [...new Set([file.objectKey, 'uploads/stray-'].map(shardOfKey))];
  const { calls } = await applyFault('dies before', Number.POSITIVE_INFINITY, walk);
  expect(calls).toBeGreaterThan(3);
  for (let nth = 1; nth <= calls; nth++) {
    for (const fault of triedAt(nth)) {
      await forgetWalk(service);
      await leaveStray();
      const outcome = await applyFault(fault, nth, walk);
      await outcome.happenLate();
      await walk();
      await walkBucket(stores, { now: later + 24 * HOUR_MS, shards, ...inTime() });
      expect({ fault, nth, stray: await strayKeys(service) }).toEqual({ fault, nth, stray: [] });
      expect(await stores.objects.size(file.objectKey)).toBe(5);
    }
  }
  await deleteFile(stores, file, inTime());
});

test.each(Object.entries(SCENARIOS))(
  'a fault at any call of %s leaves correct books, and nothing else behind',
  async (_, scenario) => {
    const trials = await tryEverywhere(scenario);
    expect(trials.length).toBeGreaterThanOrEqual(2);
    // Even before the sweep, the books balance, and every listed file has its object.
    for (const { accountId, trial } of trials) {
      expect({ trial, ...(await auditAccount(stores, accountId)) }).toMatchObject({ trial, differences: [] });
    }
    // It sweeps twice, because a sweeper that died holds its rows until their leases end.
    const sweepAfter = (hours: number) =>
      sweepAt(service, Date.now() + hours * HOUR_MS, ...trials.map(({ accountId }) => accountId));
    await sweepAfter(2);
    await sweepAfter(3);
    const veryLate = trials.filter(({ trial }) => trial.late === 'after the sweeper');
    await eachOf(veryLate, 16, ({ happenLate }) => happenLate());
    if (veryLate.length > 0) for (const hours of [4, 5]) await sweepAfter(hours);
    for (const { accountId, possible, retried, trial } of trials) {
      const { differences, computed } = await auditAccount(stores, accountId);
      const left = (await statesOf(service, accountId)).filter((state) => state !== 'ready');
      expect({ trial, differences, left }).toEqual({ trial, differences: [], left: [] });
      expect(possible, JSON.stringify(trial)).toContain(computed.fileCount);
      if (retried) expect(await getFile(stores, retried)).toMatchObject(retried);
    }
    // The sweeper leaves only two kinds of objects to the walk of the bucket: objects of forms that made no file, and objects that appeared
    // late.
    const lateKeys = new Set(trials.map(({ lateKey }) => lateKey));
    const isForTheWalk = (key: string) => scenario.isForm || lateKeys.has(key);
    expect((await strayKeys(service)).filter((key) => !isForTheWalk(key))).toEqual([]);
    await forgetWalk(service);
    await sweepAll(service, Date.now() + 48 * HOUR_MS);
    expect(await strayKeys(service)).toEqual([]);
  },
);
