import fc from 'fast-check';
import { expect } from 'vitest';
import { auditAccount, type Difference } from '../../../shared/administration/audit-account.ts';
import { cancelTicket } from '../../../shared/files/cancel-ticket.ts';
import { completeArrivedUpload, completeUpload } from '../../../shared/files/complete-upload.ts';
import type { IssuedTicket } from '../../../shared/files/create-ticket.ts';
import { deleteFile } from '../../../shared/files/delete-file.ts';
import type { FileRef } from '../../../shared/files/file.ts';
import { incomingKey } from '../../../shared/files/object-key.ts';
import { HOUR_MS, inTime, newAccount, newTicket, put, sweepAll, sweepAt, upload } from './actions.ts';
import { FAULTS, faultsOfProduct } from './faults.ts';
import { forgetWalk, statesOf, strayKeys, usageOf } from './observe.ts';
import { startService } from './service.ts';

const service = await startService();
const { stores } = service;
const applyFault = await faultsOfProduct();

/** Room for two or three of the files below, so that requests compete for it. */
const ROOM = 25;

const which = fc.nat(9);
const action = fc.oneof(
  fc.record({ do: fc.constant('upload' as const), size: fc.integer({ min: 0, max: 10 }), key: fc.option(fc.nat(1)) }),
  fc.record({
    do: fc.constant('ticket' as const),
    size: fc.integer({ min: 0, max: 10 }),
    // A second request with the same key renews the ticket of the first request.
    key: fc.option(fc.nat(1)),
    minutesAgo: fc.constantFrom(0, 10),
  }),
  fc.record({ do: fc.constantFrom('put', 'complete', 'event', 'delete', 'cancel', 'delete uploaded'), which }),
  fc.record({ do: fc.constant('sweep' as const), minutes: fc.constantFrom(0, 2, 12, 25) }),
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;
const anyFault = fc.option(fc.record({ fault: fc.constantFrom(...FAULTS), nth: fc.integer({ min: 1, max: 12 }) }));

/** What a client knows of its account. */
class Client {
  readonly #accountId: string;
  readonly #files: string[] = [];
  readonly #tickets: { ticket: IssuedTicket; size: number }[] = [];
  /** The files whose deletion was begun. */
  readonly deletions = new Set<string>();

  constructor(accountId: string) {
    this.#accountId = accountId;
  }

  async act(what: Action): Promise<void> {
    const ref = (id: string) => ({ accountId: this.#accountId, id });
    if (what.do === 'upload') {
      const key = what.key === null ? {} : { idempotencyKey: `key ${what.key}` };
      const { file } = await upload(service, this.#accountId, 'x'.repeat(what.size), {
        storageLimitBytes: ROOM,
        ...key,
      });
      this.#files.push(file.id);
    } else if (what.do === 'ticket') {
      // All requests with one key ask for the same size, because otherwise they are refused.
      const size = what.key === null ? what.size : 5 + what.key;
      const ticket = await newTicket(service, this.#accountId, size, {
        storageLimitBytes: ROOM,
        clock: () => Date.now() - what.minutesAgo * 60_000,
        ...(what.key !== null && { idempotencyKey: `ticket ${what.key}` }),
      });
      this.#tickets.push({ ticket, size });
    } else if (what.do === 'sweep') {
      await sweepAt(service, Date.now() + what.minutes * 60_000, this.#accountId);
    } else if (what.do === 'delete') {
      const id = this.#files[what.which % this.#files.length];
      if (id) await this.#delete(ref(id));
    } else {
      const held = this.#tickets[what.which % this.#tickets.length];
      if (held) await this.#use(held, what.do);
    }
  }

  async #use({ ticket, size }: { ticket: IssuedTicket; size: number }, how: string): Promise<void> {
    const ref = { accountId: this.#accountId, id: ticket.id };
    if (how === 'put') await put(ticket, 'x'.repeat(size));
    if (how === 'complete') await completeUpload(stores, ref, inTime());
    if (how === 'event') await completeArrivedUpload(stores, incomingKey(ref), inTime());
    if (how === 'delete uploaded') await this.#delete(ref);
    if (how === 'cancel') await cancelTicket(stores, ref, inTime());
  }

  async #delete(ref: FileRef): Promise<void> {
    this.deletions.add(ref.id);
    await deleteFile(stores, ref, inTime());
  }
}

/**
 * Runs random actions of clients, events, sweepers and faults at the same time, in a new account for each run. After each step, it expects
 * that the usage is not negative and not over the limit. At the end of each run, it expects that the books balance and nothing is left
 * over.
 */
export async function expectBalanceUnderRandomUse(numRuns: number): Promise<void> {
  const step = fc.array(fc.tuple(action, anyFault), { minLength: 1, maxLength: 4 });
  const ends = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
      const accountId = await newAccount(service);
      const client = new Client(accountId);
      const late: (() => Promise<void>)[] = [];
      for (const actions of steps) {
        const outcomes = await Promise.all(
          actions.map(([what, bad]) =>
            applyFault(bad?.fault ?? 'dies before', bad?.nth ?? Number.POSITIVE_INFINITY, () => client.act(what), {
              mayNotApply: true,
            }),
          ),
        );
        for (const { end } of outcomes) ends.add(end);
        // A late call of one step takes effect after the next step.
        await Promise.all(late.splice(0).map((happenLate) => happenLate()));
        late.push(...outcomes.map(({ happenLate }) => happenLate));
        const { bytes } = await usageOf(service, accountId);
        expect(bytes).toBeGreaterThanOrEqual(0);
        expect(bytes).toBeLessThanOrEqual(ROOM);
      }
      await Promise.all(late.map((happenLate) => happenLate()));
      await expectTidy(accountId, client.deletions);
    }),
    // A failing example is not shrunk, because that would take longer than a test may. The message has the seed of the example.
    { numRuns, endOnFailure: true },
  );
  expect([...ends].sort()).toEqual(['death', 'error', 'success']);
}

async function expectTidy(accountId: string, deletions: ReadonlySet<string>): Promise<void> {
  // A deletion that died may have removed the object; the sweeper then removes the row.
  const isLeftToSweeper = (difference: Difference) => difference.what === 'object' && deletions.has(difference.file.id);
  const { differences } = await auditAccount(stores, accountId);
  expect(differences.filter((difference) => !isLeftToSweeper(difference))).toEqual([]);
  for (const hours of [2, 3]) await sweepAt(service, Date.now() + hours * HOUR_MS, accountId);
  expect((await auditAccount(stores, accountId)).differences).toEqual([]);
  expect((await statesOf(service, accountId)).filter((state) => state !== 'ready')).toEqual([]);
  await forgetWalk(service);
  await sweepAll(service, Date.now() + 48 * HOUR_MS);
  expect(await strayKeys(service)).toEqual([]);
}
