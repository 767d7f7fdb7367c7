import type { FileRow, PendingUpload } from './file.ts';
import { objectKeysOf } from './object-key.ts';
import type { SweepingStores } from './sweeping-stores.ts';
import type { WorkItem } from './work-store.ts';

/** What was finished: an upload or ticket past its deadline, a cancelled ticket, a deletion, copies beside a ready file. */
export type SweptKind = 'upload' | 'ticket' | 'cancelled' | 'deleted' | 'leftovers';

/** Longer than a sweep runs: a row that fails comes back after this. */
const LEASE_MS = 5 * 60_000;

/**
 * Finishes one row. First the books (a row that was pending can then become a file no more), then the objects, then the
 * row: whoever dies in between leaves a row that is due again.
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
    await Promise.all(row.attemptKeys.map((key) => stores.objects.remove(key)));
    await stores.work.finishReady(row);
    return 'leftovers';
  }
  if (row.state !== 'pending') {
    await removeRow(stores, row);
    return row.state === 'cancelled' ? 'cancelled' : 'deleted';
  }
  if (row.lane === 'multipart') {
    if ((await stores.files.giveUp(row)) !== 'given up') return undefined;
    await removeRow(stores, row);
    return 'upload';
  }
  if ((await stores.releases.releaseTicket(row, 'deleting', { deadlineAt })) === 'changed') return undefined;
  await removeRow(stores, row);
  return 'ticket';
}

async function removeRow(stores: SweepingStores, row: FileRow): Promise<void> {
  // Parts first: an upload in parts whose owner still lives could make an object of them after we removed it.
  if (row.lane === 'multipart' && 'objectKey' in row && row.objectKey !== undefined) {
    await abortUploads(stores, row.objectKey);
  }
  await Promise.all(objectKeysOf(row).map((key) => stores.objects.remove(key)));
  await stores.files.remove(row);
}

async function abortUploads(stores: SweepingStores, key: PendingUpload['objectKey']): Promise<void> {
  const uploads = await stores.inventory.unfinishedUploads(key);
  await Promise.all(uploads.map((upload) => stores.inventory.abort(upload)));
}
