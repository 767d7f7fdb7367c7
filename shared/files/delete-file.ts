import { describeError, log } from '../log.ts';
import { briefly, type Deadline } from '../time-limit.ts';
import type { FileRef } from './file.ts';
import { findRow, noSuchFile } from './file-record.ts';
import type { ObjectStore } from './object-store.ts';
import type { FileStore, ReleaseStore } from './stores.ts';

export interface DeletingStores {
  readonly files: FileStore;
  readonly objects: ObjectStore;
  readonly releases: ReleaseStore;
}

/** The row of a deleted file is due for the sweeper after this time. By then the function that deletes the file has ended. */
const SWEEPER_WAITS_MS = 30_000;

/**
 * Deletes a file. Of two simultaneous deletions, one succeeds and the other gets `not_found`.
 *
 * First one transaction takes the file out of the list and the books, and changes its row to `deleting`. Then the object is removed, and then
 * the row (decision 0039). From the first step on, the row is in the index of unfinished work: if we die, or the storage is slow or fails,
 * the sweeper takes the other two steps. So the object of a listed file always exists, and the request succeeds even if the storage fails.
 * @throws ApiError `not_found` for an unknown id, an id of another account, an upload that is not complete, and a deleted file.
 */
export async function deleteFile(
  stores: DeletingStores,
  ref: FileRef,
  deadline: Deadline,
  clock: () => number = Date.now,
): Promise<void> {
  const file = await findRow(stores, ref);
  const now = clock();
  const work = { now, dueAt: now + SWEEPER_WAITS_MS };
  if (file?.state !== 'ready' || (await stores.releases.releaseFile(file, work, deadline)) === 'changed') {
    throw noSuchFile();
  }
  try {
    await briefly(() => finishDeletion(stores, file));
  } catch (error) {
    log('warn', 'deletion not finished; left to the sweeper', { fileId: ref.id, ...describeError(error) });
  }
}

/**
 * Removes the object of a deleted file, then the row, by which the sweeper finds the object. May be repeated, also by two processes at once:
 * neither the key of an object nor the id of a file is used again.
 */
export async function finishDeletion(
  stores: Pick<DeletingStores, 'files' | 'objects'>,
  file: FileRef & { readonly objectKey: string },
): Promise<void> {
  await stores.objects.remove(file.objectKey);
  await stores.files.remove(file);
}
