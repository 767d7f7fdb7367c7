import { eachOf } from '../each-of.ts';
import { describeError, log } from '../log.ts';
import { removeLeftover } from './delete-file.ts';
import type { FileRow } from './file.ts';
import { incomingKey, publicKeysOf } from './object-key.ts';
import { walkBucket } from './walk-bucket.ts';
import { type SweepingStores, WORK_SHARDS, type WorkItem, type WorkStore } from './work-store.ts';

/**
 * What was finished: an upload or ticket past its deadline, a cancelled ticket, a deletion, what the ticket of a ready file
 * left (the bytes that arrived, copies of attempts that lost).
 */
type SweptKind = 'upload' | 'ticket' | 'cancelled' | 'deleted' | 'leftovers';

/** Longer than a sweep runs: a row that fails comes back after this. */
const LEASE_MS = 5 * 60_000;

/**
 * Finishes one row. First the books (a row that was pending can then become a file no more), then the objects, then the
 * row: a process that dies in between leaves a row that is due again. A ticket that was renewed since the row was taken is left alone.
 * @returns what was done; undefined when there was nothing to do, or somebody else is doing it.
 */
export async function sweepRow(
  stores: SweepingStores,
  item: WorkItem,
  { now, deadlineAt }: { now: number; deadlineAt: number },
): Promise<SweptKind | undefined> {
  const row = await stores.work.claim(item, now + LEASE_MS);
  if (!row) return undefined;
  if (row.state === 'ready') {
    await abortUploads(stores, row.attemptKeys);
    const keys = row.via === 'ticket' ? [...row.attemptKeys, incomingKey(row)] : row.attemptKeys;
    await Promise.all(keys.map((key) => stores.objects.remove(key)));
    await stores.work.finishReady(row);
    return 'leftovers';
  }
  if (row.state !== 'pending') {
    await removeRow(stores, row, now);
    return row.state === 'deleting' ? 'deleted' : 'cancelled';
  }
  if (row.via === 'form') {
    if ((await stores.files.giveUp(row)) !== 'given up') return undefined;
    await removeRow(stores, row, now);
    return 'upload';
  }
  if ((await stores.releases.releaseTicket(row, 'deleting', { deadlineAt })) === 'changed') return undefined;
  await removeRow(stores, row, now);
  return 'ticket';
}

async function removeRow(stores: SweepingStores, row: FileRow, now: number): Promise<void> {
  await abortUploads(stores, publicKeysOf(row));
  await removeLeftover(stores, row, now);
}

/** To be done before the objects are removed: a process that still stores parts could make an object of them afterwards. */
async function abortUploads(stores: SweepingStores, keys: readonly string[]): Promise<void> {
  const uploads = await Promise.all(keys.map((key) => stores.inventory.unfinishedUploads(key)));
  await Promise.all(uploads.flat().map((upload) => stores.inventory.abort(upload)));
}

interface SweepBudget {
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
