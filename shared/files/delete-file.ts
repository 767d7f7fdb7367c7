import { ApiError, serviceUnavailable } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { briefly, checkDeadline, type Deadline } from '../time-limit.ts';
import type { DeletionNoteStore } from './deletion-notes.ts';
import { type FileRef, type FileRow, hasLiveTicket } from './file.ts';
import { findRow } from './file-record.ts';
import { incomingKey, publicKeysOf } from './object-key.ts';
import type { ObjectStore } from './object-store.ts';
import type { FileStore, ReleaseStore } from './stores.ts';

export interface DeletingStores {
  readonly files: FileStore;
  readonly notes: DeletionNoteStore;
  readonly objects: ObjectStore;
  readonly releases: ReleaseStore;
}

/** The row is due for the sweeper after this long. By then the function that deletes has ended. */
const SWEEPER_WAITS_MS = 30_000;

interface Deleting extends Deadline {
  /** The row, if a read of it has begun already. It may be out of date: the conditions of the writes notice that. */
  readonly row?: Promise<FileRow | undefined>;
  /** True when the deletion is noted already. */
  readonly isNoted?: boolean;
}

/** A row can change while we look: from pending to ready, then from ready to gone. */
const TRIES = 3;

/**
 * Deletes a file, or cancels a ticket. Of two simultaneous deletions, one succeeds and the other gets `not_found`.
 *
 * A deletion is noted first. If we die after that, the sweeper repeats it. Then the objects are removed, and then one transaction
 * takes the file out of the books and removes its row. So when the row is gone, nothing is left to do. A slow or failing storage does
 * not fail the request: if it does not remove the objects in two seconds, the row stays, and the sweeper removes them.
 *
 * When a ticket is cancelled, we store an empty object under its key in `incoming/`, unless its bytes are there. If that fails or we
 * die before it, one PUT may still succeed. Then its bytes make no file, make S3 refuse further PUTs, and are removed when the ticket
 * ends.
 * @throws ApiError `not_found` for an unknown id, an id of another account, an upload under way, and a deleted file.
 */
export async function deleteFile(
  stores: DeletingStores,
  ref: FileRef,
  deleting: Deleting,
  clock: () => number = Date.now,
): Promise<void> {
  let isNoted = deleting.isNoted ?? false;
  for (let tries = 0; tries < TRIES; tries++) {
    checkDeadline(deleting);
    const row = await (tries === 0 && deleting.row ? deleting.row : findRow(stores, ref));
    if (row?.state === 'ready') {
      if (!isNoted) await stores.notes.add(ref, clock());
      isNoted = true;
      const hasObjects = !(await tryNow(row, () => removeObjects(stores, row)));
      const left = hasObjects ? { dueAt: clock() + SWEEPER_WAITS_MS } : undefined;
      if ((await stores.releases.releaseFile(row, { left, now: clock() }, deleting)) === 'released') return;
    } else if (row?.state === 'pending' && row.via === 'ticket') {
      const outcome = await stores.releases.releaseTicket(row, 'cancelled', deleting);
      if (outcome === 'released') {
        await tryNow(row, () => stores.objects.occupy(incomingKey(row)));
        return;
      }
    } else {
      throw new ApiError('not_found');
    }
  }
  throw serviceUnavailable({ detail: 'the file changed each time' });
}

/**
 * Removes what is left of a file that is out of the books: first its objects, then its row. Until its ticket ends, the object in
 * `incoming/` and the row stay; then the sweeper calls this again. If we die in between, the row still exists, and is due soon.
 * @param row  the row before it became `deleting`, or as it is now.
 */
export async function removeLeftover(
  stores: Pick<DeletingStores, 'files' | 'objects'>,
  row: FileRow,
  now: number,
): Promise<void> {
  await removeObjects(stores, row);
  if (hasLiveTicket(row, now)) return stores.files.postpone(row, row.ticketEndsAt);
  if (row.via === 'ticket') await stores.objects.remove(incomingKey(row));
  await stores.files.remove(row);
}

async function removeObjects({ objects }: Pick<DeletingStores, 'objects'>, row: FileRow): Promise<void> {
  await Promise.all(publicKeysOf(row).map((key) => objects.remove(key)));
}

/** Tries now what the sweeper would otherwise do later. If it fails, the deletion succeeds all the same. @returns whether it was done. */
async function tryNow(ref: FileRef, work: () => Promise<void>): Promise<boolean> {
  try {
    await briefly(work);
    return true;
  } catch (error) {
    log('warn', 'deletion not finished; left to the sweeper', { fileId: ref.id, ...describeError(error) });
    return false;
  }
}
