import { describeError, log } from '../log.ts';
import { eachOf } from './each-of.ts';
import { type SweptKind, sweepRow } from './sweep-row.ts';
import type { SweepingStores } from './sweeping-stores.ts';
import { walkBucket } from './walk-bucket.ts';
import { WORK_SHARDS, type WorkItem, type WorkStore } from './work-store.ts';

export interface SweepBudget {
  /** Rows looked up at a time; as long as there are as many, it goes on. */
  readonly rows: number;
  /** Nothing new is begun after this, in epoch milliseconds of the real clock. */
  readonly deadlineAt: number;
}

export interface SweepReport {
  readonly swept: Readonly<Record<SweptKind, number>>;
  /** Rows and objects that resisted; they are tried again. */
  readonly failed: number;
  /** How long the oldest row had been due, in seconds; 0 when none was. */
  readonly lagSeconds: number;
  /** Objects and abandoned parts without a row, removed by the walk of the bucket. */
  readonly orphans: number;
}

const CONCURRENCY = 8;

/**
 * Finishes what others began and did not end: uploads and tickets past their deadline, deletions, copies of lost attempts;
 * then looks at one page of the bucket (see {@link walkBucket}). To be run every minute.
 *
 * It may die anywhere and run twice at once: each row is taken by a conditional lease, every step on it is harmless when
 * repeated, and a row that fails is due again when its lease ends, behind the others. With nothing to do it reads 16 empty
 * index partitions and the walk's state.
 * @param options.now  epoch milliseconds.
 */
export async function sweep(
  stores: SweepingStores,
  { now, budget }: { now: number; budget: SweepBudget },
): Promise<SweepReport> {
  const swept = { upload: 0, ticket: 0, cancelled: 0, deleted: 0, leftovers: 0 };
  let failed = 0;
  let oldestDueAt = now;
  for (let hasMore = true; hasMore && Date.now() < budget.deadlineAt; ) {
    const due = await findDue(stores.work, now, budget.rows);
    oldestDueAt = Math.min(oldestDueAt, ...due.items.map(({ dueAt }) => dueAt));
    await eachOf(due.items, CONCURRENCY, async (item) => {
      if (Date.now() >= budget.deadlineAt) return;
      try {
        const kind = await sweepRow(stores, item, { now, deadlineAt: budget.deadlineAt });
        if (kind) swept[kind]++;
      } catch (error) {
        failed++;
        log('error', 'row not swept; it is tried again', { fileId: item.id, ...describeError(error) });
      }
    });
    hasMore = due.hasMore;
  }
  const walk = Date.now() < budget.deadlineAt ? await walkOrFail(stores, now) : { removed: 0, failed: 0 };
  return { swept, failed: failed + walk.failed, lagSeconds: (now - oldestDueAt) / 1_000, orphans: walk.removed };
}

/** Longest overdue first. What has a lease, also one of ours that failed, is not due. */
async function findDue(
  work: WorkStore,
  now: number,
  rows: number,
): Promise<{ items: WorkItem[] /** There may be. */; hasMore: boolean }> {
  const shards = Array.from({ length: WORK_SHARDS }, (_, shard) => shard);
  const perShard = Math.ceil(rows / WORK_SHARDS);
  const due = await Promise.all(shards.map((shard) => work.due(shard, now, perShard)));
  return {
    items: due.flat().sort((a, b) => a.dueAt - b.dueAt),
    hasMore: due.some(({ length }) => length === perShard),
  };
}

/** What the walk cannot do must not hide what was swept. */
async function walkOrFail(stores: SweepingStores, now: number): Promise<{ removed: number; failed: number }> {
  return walkBucket(stores, now).catch((error) => {
    log('error', 'bucket not walked; the next sweep does it', describeError(error));
    return { removed: 0, failed: 1 };
  });
}
