import type { FileRow } from './file.ts';
import { incomingKey, publicKeysOf } from './object-key.ts';
import { removeLeftover } from './remove-leftover.ts';
import type { SweepingStores } from './sweeping-stores.ts';
import type { WorkItem } from './work-store.ts';

/**
 * What was finished: an upload or ticket past its deadline, a cancelled ticket, a deletion, what the ticket of a ready file
 * left (the bytes that arrived, copies of attempts that lost).
 */
export type SweptKind = 'upload' | 'ticket' | 'cancelled' | 'deleted' | 'leftovers';

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
    const keys = row.lane === 'direct' ? [...row.attemptKeys, incomingKey(row)] : row.attemptKeys;
    await Promise.all(keys.map((key) => stores.objects.remove(key)));
    await stores.work.finishReady(row);
    return 'leftovers';
  }
  if (row.state !== 'pending') {
    await removeRow(stores, row, now);
    return row.state === 'deleting' ? 'deleted' : 'cancelled';
  }
  if (row.lane === 'multipart') {
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
