import { eachOf } from '../each-of.ts';
import { describeError, log } from '../log.ts';
import { finishDeletion } from './delete-file.ts';
import { sealLeaf } from './seal-leaf.ts';
import { ALL_SHARDS, shardOf } from './shards.ts';
import { sweepTickets } from './sweep-tickets.ts';
import { walkBucket } from './walk-bucket.ts';
import type { SweepingStores, WorkItem, WorkStore } from './work-store.ts';

/**
 * What a sweep finished:
 * - `ticket`: a ticket that ended without a file;
 * - `cancelled`: a cancelled or refused ticket;
 * - `deleted`: a deletion whose request did not finish it;
 * - `leftovers`: what the ticket of a file left behind (its object in `incoming/`, and copies of attempts that lost);
 * - `leaf`: the seal of a leaf.
 */
type SweptKind = 'ticket' | 'cancelled' | 'deleted' | 'leftovers' | 'leaf';

interface SweepBudget {
  /** How many rows to look up at a time. The sweep goes on as long as a shard may have more rows that are due. */
  readonly rows: number;
  /** The sweep begins nothing new after this time, in epoch milliseconds of the real clock. */
  readonly deadlineAt: number;
}

export interface SweepReport {
  readonly swept: Readonly<Record<SweptKind, number>>;
  /** Rows and objects that could not be finished; they are tried again. */
  readonly failed: number;
  /** How long the oldest row, or the next walk of a range of the bucket, had been due, in seconds; 0 when none was due. */
  readonly lagSeconds: number;
  /** Objects and abandoned parts without a row, which the walk of the bucket removed. */
  readonly orphans: number;
}

/** The lease on a row, which is longer than a sweep runs. A row that fails is due again after this time. */
const LEASE_MS = 5 * 60_000;
const CONCURRENCY = 8;

/**
 * Runs every minute, and finishes what requests began and did not end: tickets that have ended (see {@link sweepTickets}), and deletions.
 * It writes the seals of leaves that have become full, or from which files were deleted. Then it walks the bucket (see {@link walkBucket}).
 *
 * The process may die at any step, and two sweeps may run at the same time: a sweep takes a lease on each row of the index by a conditional
 * write, and each step on a row may be repeated. A row that fails is due again when its lease ends, behind the others. A sweep without work
 * reads the state of the walk, the index, and an empty partition of tickets for each shard.
 * @param options.now  epoch milliseconds.
 * @param options.shards  those that this sweeper sweeps; by default all.
 */
export async function sweep(
  stores: SweepingStores,
  { now, budget, shards = ALL_SHARDS }: { now: number; budget: SweepBudget; shards?: readonly number[] },
): Promise<SweepReport> {
  const { deadlineAt } = budget;
  const tickets = await sweepTickets(stores, { now, shards, ...budget });
  const { ticket, cancelled, leftovers } = tickets;
  const swept = { ticket, cancelled, deleted: 0, leftovers, leaf: 0 };
  let { failed, oldestDueAt } = tickets;
  // The first look-up is also made when the tickets have taken all the time: it says how late the other work is.
  for await (const due of dueWork(stores.work, shards, now, budget.rows)) {
    oldestDueAt = Math.min(oldestDueAt, ...due.map(({ dueAt }) => dueAt));
    await eachOf(due, CONCURRENCY, async (item) => {
      if (Date.now() >= deadlineAt) return;
      try {
        const kind = await sweepRow(stores, item, now);
        if (kind) swept[kind]++;
      } catch (error) {
        failed++;
        log('error', 'row not swept; it is tried again', { fileId: item.id, ...describeError(error) });
      }
    });
    if (Date.now() >= deadlineAt) break;
  }
  const walk = await walkOrFail(stores, { now, deadlineAt, shards });
  oldestDueAt = Math.min(oldestDueAt, walk.oldestDueAt);
  return { swept, failed: failed + walk.failed, lagSeconds: (now - oldestDueAt) / 1_000, orphans: walk.removed };
}

/**
 * Looks up the rows that are due, the longest overdue first. A row with a lease is not due, so a row that failed in this sweep is not found
 * again. A stage that has little work must not pay each minute for a look into every shard, so the first look is one at the whole index.
 */
async function* dueWork(
  work: WorkStore,
  shards: readonly number[],
  now: number,
  rows: number,
): AsyncGenerator<WorkItem[]> {
  const longestOverdueFirst = (items: readonly WorkItem[]) => [...items].sort((a, b) => a.dueAt - b.dueAt);
  const few = await work.dueAmongFew(now, rows);
  if (few) {
    yield longestOverdueFirst(few.filter(({ accountId }) => shards.includes(shardOf(accountId))));
    return;
  }
  for (let left = shards; left.length > 0; ) {
    const perShard = Math.ceil(rows / left.length);
    const due = await eachOf(left, CONCURRENCY, (shard) => work.due(shard, now, perShard));
    yield longestOverdueFirst(due.flat());
    left = left.filter((_, index) => due[index]?.length === perShard);
  }
}

/** Walks the bucket. A failure of the walk must not hide what was swept. */
const walkOrFail: typeof walkBucket = (stores, walking) =>
  walkBucket(stores, walking).catch((error) => {
    log('error', 'walk of the bucket not continued; the next sweep continues it', describeError(error));
    return { removed: 0, failed: 1, oldestDueAt: walking.now };
  });

/**
 * Finishes the work on one row. For a leaf it writes the seal. For a deleted file it removes first the object, then the row. When we die in
 * between, the row is due again when its lease ends.
 * @returns what was done; undefined when there was nothing to do, or another process does it.
 */
export async function sweepRow(
  stores: SweepingStores,
  item: WorkItem,
  now: number,
): Promise<'deleted' | 'leaf' | undefined> {
  if (item.leaf !== undefined) {
    const leaf = await stores.work.leaseLeaf({ ...item, leaf: item.leaf }, now + LEASE_MS);
    return leaf && (await sealLeaf(stores, leaf)) ? 'leaf' : undefined;
  }
  const file = await stores.work.lease(item, now + LEASE_MS);
  if (!file) return undefined;
  await finishDeletion(stores, file);
  return 'deleted';
}
