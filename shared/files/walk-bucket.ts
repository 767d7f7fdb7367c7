import { eachOf } from '../each-of.ts';
import { describeError, log } from '../log.ts';
import { type FileRef, type FileRow, hasLiveTicket } from './file.ts';
import { fileOfIncomingKey, incomingKey, isPublicKey, parseOwner, publicKeysOf } from './object-key.ts';
import type { ListedObject } from './object-store.ts';
import type { SweepingStores, WalkState } from './work-store.ts';

const DAY_MS = 24 * 3_600_000;
/**
 * No object that still waits for its row can be as old: an upload's lease is a minute, and a copy ends with its function.
 * (What arrived for a ticket has its row from the beginning, however long the ticket lives.)
 */
const MIN_AGE_MS = DAY_MS + 3_600_000;
const CONCURRENCY = 16;

/**
 * Compares one page of the bucket with the table and removes objects no row knows: what a process left that died between
 * S3 and the sweeper's reach, or whose write arrived after its row was gone. A walk begins once a day.
 *
 * Each object is asked for its owner once in its life: one that had its row when it was a day old loses it only by a
 * deletion, which removes the object before the row. So a walk looks at what came since the last one; all else costs a
 * thousandth of a listing request.
 */
export async function walkBucket(stores: SweepingStores, now: number): Promise<{ removed: number; failed: number }> {
  const state = nextWalk(await stores.work.walk(), now);
  if (!state) return { removed: 0, failed: 0 };
  const page = await stores.inventory.page(state.after);
  const fresh = page.objects.filter(({ modifiedAt }) => modifiedAt >= state.checkedBefore && modifiedAt < state.until);
  const isOver = page.after === undefined;
  const checks = await eachOf(fresh, CONCURRENCY, (object) => checkObject(stores, object, now));
  const aborts = isOver ? await abortOldUploads(stores, now) : [];
  const outcomes = [...checks, ...aborts];
  const failed = outcomes.filter((outcome) => outcome === 'failed').length;
  const { after: _, ...rest } = state;
  // Two sweepers at once do the same page twice; whoever dies before this does it again.
  await stores.work.saveWalk({
    ...rest,
    ...(page.after !== undefined && { after: page.after }),
    isOver,
    hasFailed: state.hasFailed || failed > 0,
  });
  return { removed: outcomes.filter((outcome) => outcome === 'removed').length, failed };
}

/** The walk under way, or a new one when the last began a day ago; undefined in between. */
function nextWalk(last: WalkState | undefined, now: number): WalkState | undefined {
  if (last && !last.isOver) return last;
  if (last && now - last.startedAt < DAY_MS) return undefined;
  // What the last walk could not look at is looked at again.
  const checkedBefore = last ? (last.hasFailed ? last.checkedBefore : last.until) : 0;
  return { startedAt: now, isOver: false, checkedBefore, until: now - MIN_AGE_MS, hasFailed: false };
}

type Outcome = 'kept' | 'removed' | 'failed';

async function checkObject(stores: SweepingStores, { key }: ListedObject, now: number): Promise<Outcome> {
  try {
    const owner = fileOfIncomingKey(key) ?? (await ownerOfPublicKey(stores, key));
    // Not written by us: nothing says that it may go.
    if (!owner) return 'kept';
    const row = await stores.files.get(owner);
    if (row && keysWithReason(row, now).includes(key)) return 'kept';
    await stores.objects.remove(key);
    return 'removed';
  } catch (error) {
    log('error', 'object not compared with its row; the next walk does it', describeError(error));
    return 'failed';
  }
}

/** Of a ready file the bytes that arrived directly have been copied: they are of use while its ticket lives. */
function keysWithReason(row: FileRow, now: number): string[] {
  const isOfUse = row.via === 'ticket' && (row.state !== 'ready' || hasLiveTicket(row, now));
  return isOfUse ? [...publicKeysOf(row), incomingKey(row)] : publicKeysOf(row);
}

async function ownerOfPublicKey(stores: SweepingStores, key: string): Promise<FileRef | undefined> {
  return isPublicKey(key) ? parseOwner((await stores.inventory.ownerTag(key)) ?? '') : undefined;
}

/** The bucket's lifecycle does the same, where there is one. */
async function abortOldUploads(stores: SweepingStores, now: number): Promise<Outcome[]> {
  const uploads = await stores.inventory.unfinishedUploads();
  const old = uploads.filter(({ startedAt }) => startedAt < now - MIN_AGE_MS);
  return eachOf(old, CONCURRENCY, async (upload) => {
    try {
      await stores.inventory.abort(upload);
      return 'removed';
    } catch (error) {
      log('error', 'parts not thrown away; the next walk does it', describeError(error));
      return 'failed';
    }
  });
}
