import { ApiError, serviceUnavailable } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { briefly, checkDeadline, type Deadline } from '../time-limit.ts';
import type { DeletionNoteStore } from './deletion-notes.ts';
import type { FileRef } from './file.ts';
import { findRow } from './file-record.ts';
import type { ObjectStore } from './object-store.ts';
import type { FileStore, ReleaseStore } from './stores.ts';

export interface DeletingStores {
  readonly files: FileStore;
  readonly notes: DeletionNoteStore;
  readonly objects: ObjectStore;
  readonly releases: ReleaseStore;
}

/** If the object could not be removed, its row is due for the sweeper after this time. By then the function that deletes has ended. */
const SWEEPER_WAITS_MS = 30_000;

interface Deleting extends Deadline {
  /** True when the deletion is noted already. */
  readonly isNoted?: boolean;
}

/** The state can change twice after we have read it: a ticket becomes a file, then the file is deleted. So we try three times. */
const TRIES = 3;

/**
 * Deletes a file. Of two simultaneous deletions, one succeeds and the other gets `not_found`.
 *
 * A deletion is noted first. If we die after that, the sweeper repeats it. Then the object is removed, and then one transaction takes the
 * file out of the books and removes its row. So when the row is gone, the deletion is complete. The request succeeds even if the storage is
 * slow or fails. If the storage does not remove the object in two seconds, the row stays, and the sweeper removes both.
 * @throws ApiError `not_found` for an unknown id, an id of another account, a form that is still arriving, and a deleted file.
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
    const row = await findRow(stores, ref);
    if (row?.state === 'ready') {
      if (!isNoted) await stores.notes.add(ref, clock());
      isNoted = true;
      const isRemoved = await tryNow(row, () => stores.objects.remove(row.objectKey));
      const left = isRemoved ? undefined : { dueAt: clock() + SWEEPER_WAITS_MS };
      if ((await stores.releases.releaseFile(row, { left, now: clock() }, deleting)) === 'released') return;
      continue;
    }
    throw new ApiError('not_found');
  }
  throw serviceUnavailable({ detail: 'the file changed each time' });
}

/**
 * Tries to remove the object of a file, or to store the empty object of a cancelled ticket. If this fails, the deletion still succeeds. The
 * sweeper removes what is left, at the latest when the ticket ends.
 * @returns true when the work was done.
 */
async function tryNow(ref: FileRef, work: () => Promise<void>): Promise<boolean> {
  try {
    await briefly(work);
    return true;
  } catch (error) {
    log('warn', 'deletion not finished; left to the sweeper', { fileId: ref.id, ...describeError(error) });
    return false;
  }
}
