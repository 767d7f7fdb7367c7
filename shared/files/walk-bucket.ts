import { eachOf } from '../each-of.ts';
import { describeError, log } from '../log.ts';
import type { Deadline } from '../time-limit.ts';
import { fileOfIncomingKey, isUploadsKey, parseOwner } from './object-key.ts';
import type { ListedObject } from './object-store.ts';
import { rangeOf } from './shards.ts';
import type { SweepingStores, WalkState } from './work-store.ts';

const DAY_MS = 24 * 3_600_000;
/**
 * No upload or copy still uses an object of this age: a stream ends within 15 minutes, and a copy ends with its function. A transaction that
 * is on its way after that arrives within minutes, because AWS refuses a request that was signed longer ago. Bytes in `incoming/` may be
 * needed for longer. The walk keeps them as long as their ticket has a row.
 */
const MIN_AGE_MS = DAY_MS + 3_600_000;
const CONCURRENCY = 16;

/** How many ranges to walk at the same time, each by one page after the other. */
const RANGES_AT_ONCE = 4;

interface Walked {
  readonly removed: number;
  readonly failed: number;
}

/**
 * Compares the bucket with the table, and removes the objects that no row refers to. Some of them come from a process that died before it
 * wrote a row, or from an upload whose client was told that the outcome is unknown. Others come from a write that arrived after its row was
 * removed. The bucket has a range of keys for each shard, and each range has a walk of its own. It begins once a day, and goes on page by page
 * until it is over. If `deadlineAt` passes before that, the next call continues the walk.
 *
 * Each object is compared with the rows once, when it is a day old. If a row refers to the object then, only a deletion or the end of a
 * ticket can remove this row later, and both remove the object first. So a walk compares only objects that no earlier walk has compared.
 * Other objects are only listed, 1,000 by one request.
 * @param options.now  epoch milliseconds; may be the time of an event.
 * @param options.deadlineAt  epoch milliseconds of the real clock.
 * @returns `oldestDueAt`: since when the next walk of a range has been due, because the last walk is not over or there was no time to begin;
 *   `now` when none is due.
 */
export async function walkBucket(
  stores: SweepingStores,
  { now, deadlineAt, shards }: { readonly now: number; readonly shards: readonly number[] } & Deadline,
): Promise<Walked & { readonly oldestDueAt: number }> {
  let [removed, failed, oldestDueAt] = [0, 0, now];
  const states = await stores.work.walks();
  const begunAt = (shard: number) => states.get(shard)?.startedAt ?? 0;
  const longestAgoFirst = [...shards].sort((one, other) => begunAt(one) - begunAt(other));
  await eachOf(longestAgoFirst, RANGES_AT_ONCE, async (shard) => {
    let saved = states.get(shard);
    let state = nextWalk(saved, now);
    try {
      while (state && !state.isOver && Date.now() < deadlineAt) {
        const page = await walkPage(stores, shard, state, now);
        removed += page.removed;
        failed += page.failed;
        saved = state = page.state;
      }
    } catch (error) {
      failed++;
      log('error', 'page of the bucket not walked; the next sweep walks it', { shard, ...describeError(error) });
    }
    if (saved) oldestDueAt = Math.min(oldestDueAt, saved.startedAt + DAY_MS);
  });
  return { removed, failed, oldestDueAt };
}

async function walkPage(
  stores: SweepingStores,
  shard: number,
  { after, ...walk }: WalkState,
  now: number,
): Promise<Walked & { readonly state: WalkState }> {
  const range = rangeOf(shard);
  const page = await stores.inventory.page(after ?? range.after);
  const objects = page.objects.filter(({ key }) => range.to === undefined || key <= range.to);
  const fresh = objects.filter(({ modifiedAt }) => modifiedAt >= walk.checkedBefore && modifiedAt < walk.until);
  const isOver = page.after === undefined || objects.length < page.objects.length;
  const checks = await eachOf(fresh, CONCURRENCY, (object) => checkObject(stores, object));
  // The parts are listed for the whole bucket, so one shard is enough.
  const aborts = isOver && shard === 0 ? await abortOldUploads(stores, now) : [];
  const count = (counted: Outcome) => [...checks, ...aborts].filter((outcome) => outcome === counted).length;
  const failed = count('failed');
  const state = {
    ...walk,
    ...(!isOver && { after: page.after }),
    isOver,
    hasFailed: walk.hasFailed || failed > 0,
  };
  // Two simultaneous sweepers process the same page twice. If we die before this write, the next sweep processes the page again.
  await stores.work.saveWalk(shard, state);
  return { removed: count('removed'), failed, state };
}

/** The walk under way, or a new one if the last one began a day ago; else undefined. */
function nextWalk(last: WalkState | undefined, now: number): WalkState | undefined {
  if (last && !last.isOver) return last;
  if (last && now - last.startedAt < DAY_MS) return undefined;
  // If the last walk could not check an object, the next walk checks the same objects again.
  const checkedBefore = last ? (last.hasFailed ? last.checkedBefore : last.until) : 0;
  return { startedAt: now, isOver: false, checkedBefore, until: now - MIN_AGE_MS, hasFailed: false };
}

type Outcome = 'kept' | 'removed' | 'failed';

async function checkObject(stores: SweepingStores, { key }: ListedObject): Promise<Outcome> {
  try {
    if (await isKept(stores, key)) return 'kept';
    await stores.objects.remove(key);
    return 'removed';
  } catch (error) {
    log('error', 'object not compared with its row; the next walk compares it', describeError(error));
    return 'failed';
  }
}

/**
 * True when a file or a ticket needs the object. Also true when the service did not write the object: then we do not know whether
 * it may be removed.
 */
async function isKept(stores: SweepingStores, key: string): Promise<boolean> {
  const arrived = fileOfIncomingKey(key);
  if (arrived) return (await stores.tickets.get(arrived)) !== undefined;
  const owner = isUploadsKey(key) ? parseOwner((await stores.inventory.ownerTag(key)) ?? '') : undefined;
  if (!owner) return true;
  const file = await stores.files.get(owner);
  if (file?.objectKey === key) return true;
  // The object may be the copy of an attempt that died. It is too old to become the object of a file between the two reads.
  const ticket = await stores.tickets.get(owner);
  return ticket?.attemptKeys.includes(key) ?? false;
}

/** Removes the parts of old uploads. On AWS the bucket's lifecycle does the same. */
async function abortOldUploads(stores: SweepingStores, now: number): Promise<Outcome[]> {
  const uploads = await stores.inventory.unfinishedUploads();
  const old = uploads.filter(({ startedAt }) => startedAt < now - MIN_AGE_MS);
  return eachOf(old, CONCURRENCY, async (upload) => {
    try {
      await stores.inventory.abort(upload);
      return 'removed';
    } catch (error) {
      log('error', 'parts not removed; the next walk removes them', describeError(error));
      return 'failed';
    }
  });
}
