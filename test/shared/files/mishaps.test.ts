import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { auditAccount } from '../../../shared/files/audit-account.ts';
import { completeUpload } from '../../../shared/files/complete-upload.ts';
import { deleteFile } from '../../../shared/files/delete-file.ts';
import { incomingKey } from '../../../shared/files/object-key.ts';
import { PART_BYTES } from '../../../shared/files/parts.ts';
import { settleUpload } from '../../../shared/files/settle-upload.ts';
import { settleUploadedObject } from '../../../shared/files/settle-uploaded-object.ts';
import { sweepRow } from '../../../shared/files/sweep-row.ts';
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
  sweepAt,
  upload,
} from './actions.ts';
import { mishapsOfProduct, TRIED } from './mishaps.ts';
import { forgetWalk, statesOf, strayKeys } from './observe.ts';
import { startService } from './service.ts';

/** Mishaps at every call to AWS that a use case makes: the books balance after the sweeper, at the latest. */

const service = await startService();
const { stores } = service;
const strike = await mishapsOfProduct();

interface Scenario {
  /** Prepares an account; @returns the work to be struck. */
  readonly begin: (accountId: string) => Promise<() => Promise<unknown>>;
  /** Files the account has when all went well. */
  readonly files: number;
  /** Files it may have after an error; none, unless what failed may have happened. */
  readonly afterError?: readonly number[];
}

const SCENARIOS: Record<string, Scenario> = {
  'a small upload': { begin: async (accountId) => () => upload(service, accountId), files: 1 },
  'a large upload': {
    begin: async (accountId) => () => upload(service, accountId, LARGE),
    files: 1,
  },
  'a large upload that breaks off': {
    begin: async (accountId) => () => stage(service, accountId, broken(LARGE, new Error('the client has left'))),
    files: 0,
  },
  'an upload with a key': {
    begin: async (accountId) => () => upload(service, accountId, 'hello', { idempotencyKey: 'k' }),
    files: 1,
  },
  'an upload that is refused when it is settled': {
    begin: async (accountId) => {
      const staged = await stage(service, accountId, chunks('hello'));
      if (staged.kind !== 'stored') throw new Error('not stored');
      return () =>
        settleUpload(
          stores,
          { ...staged, allowance: { limits: { ...ACCOUNT_LIMITS, storageLimitBytes: 4 }, known: {} } },
          inTime(),
        );
    },
    files: 0,
  },
  'a deletion': {
    begin: async (accountId) => {
      const { file } = await upload(service, accountId);
      return () => deleteFile(stores, file, inTime());
    },
    files: 0,
    // Whoever asks again is told.
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
      return () => settleUploadedObject(stores, incomingKey(ref), inTime());
    },
    files: 1,
    afterError: [0, 1],
  },
  'the cancellation of a ticket whose bytes arrived': {
    begin: async (accountId) => {
      const ref = await arrived(accountId);
      return () => deleteFile(stores, ref, inTime());
    },
    files: 0,
  },
  'the sweep of an abandoned upload': {
    begin: async (accountId) => {
      await stage(service, accountId, chunks('hello'));
      return () => sweepWorkOf(accountId);
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
      await deleteFile(stores, await arrived(accountId), inTime());
      return () => sweepWorkOf(accountId);
    },
    files: 0,
  },
  'the sweep of a deletion': {
    begin: async (accountId) => {
      const { file } = await upload(service, accountId);
      const row = await stores.files.get(file);
      if (row?.state !== 'ready') throw new Error('not ready');
      await stores.releases.releaseFile(row, { dueAt: Date.now() }, inTime());
      return () => sweepWorkOf(accountId);
    },
    files: 0,
  },
};
const LARGE = randomBytes(PART_BYTES + 1);

/** A ticket whose bytes are there. */
async function arrived(accountId: string) {
  const ticket = await newTicket(service, accountId, 5, { idempotencyKey: randomUUID() });
  expect(await put(ticket, 'hello')).toBe(200);
  return { accountId, id: ticket.id };
}

/** What a sweep does with the one row of the account. */
async function sweepWorkOf(accountId: string): Promise<void> {
  const now = Date.now() + HOUR_MS;
  for await (const { id } of stores.audit.rows(accountId)) {
    const item = (await stores.work.due(Number.parseInt(id.slice(-1), 16), now, 1_000)).find((due) => due.id === id);
    if (item) await sweepRow(service.stores, item, { now, ...inTime() });
  }
}

/** Each mishap at each call that the work makes, on accounts of their own, all at once. */
async function strikeEverywhere({ begin, files, afterError = [0] }: Scenario) {
  const { calls } = await strike('dies before', Number.POSITIVE_INFINITY, await begin(await newAccount(service)));
  const trials = TRIED.flatMap((mishap) => Array.from({ length: calls }, (_, index) => ({ mishap, nth: index + 1 })));
  return Promise.all(
    trials.map(async (trial) => {
      const accountId = await newAccount(service);
      const { end } = await strike(trial.mishap, trial.nth, await begin(accountId));
      const possible = { success: [files], error: afterError, death: [0, 1] }[end];
      return { accountId, possible, trial: { ...trial, end } };
    }),
  );
}

test.each(Object.entries(SCENARIOS))('%s', async (_, scenario) => {
  const trials = await strikeEverywhere(scenario);
  expect(trials.length).toBeGreaterThan(TRIED.length);
  // Twice: a sweeper that died holds its rows for a while.
  await sweepAt(service, Date.now() + 2 * HOUR_MS);
  await sweepAt(service, Date.now() + 3 * HOUR_MS);
  for (const { accountId, possible, trial } of trials) {
    const { differences, computed } = await auditAccount(stores, accountId);
    const left = (await statesOf(service, accountId)).filter((state) => state !== 'ready');
    expect({ trial, differences, left }).toEqual({ trial, differences: [], left: [] });
    expect(possible, JSON.stringify(trial)).toContain(computed.fileCount);
  }
  // Bytes that arrived directly and were copied are for the walk, or the bucket's lifecycle.
  expect((await strayKeys(service)).filter((key) => !key.startsWith('incoming/'))).toEqual([]);
  await forgetWalk(service);
  await sweepAt(service, Date.now() + 48 * HOUR_MS);
  expect(await strayKeys(service)).toEqual([]);
});
