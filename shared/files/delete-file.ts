import { ApiError } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { briefly, type Deadline } from '../time-limit.ts';
import type { FileRef, FileRow, ReadyFile } from './file.ts';
import { findRow, findTicket } from './file-record.ts';
import { incomingKey } from './object-key.ts';
import type { ObjectStore } from './object-store.ts';
import type { FileStore, ReleaseStore, TicketStore } from './stores.ts';

export interface DeletingStores {
  readonly files: FileStore;
  readonly objects: ObjectStore;
  readonly releases: ReleaseStore;
  readonly tickets: TicketStore;
}

/** The row of a deleted file is due for the sweeper after this time. By then the function that deletes the file has ended. */
const SWEEPER_WAITS_MS = 30_000;

interface Deleting extends Deadline {
  /** The row, if a read of it has begun already. It may be out of date: the conditions of the writes notice that. */
  readonly row?: Promise<FileRow | undefined>;
}

/**
 * Deletes a file, or cancels a ticket. Of two simultaneous deletions, one succeeds and the other gets `not_found`.
 * @throws ApiError `not_found` for an unknown id, an id of another account, a form that is still arriving, and a deleted file.
 */
export async function deleteFile(
  stores: DeletingStores,
  ref: FileRef,
  deleting: Deleting,
  clock: () => number = Date.now,
): Promise<void> {
  let row = await (deleting.row ?? findRow(stores, ref));
  if (!row) {
    if (await cancelTicket(stores, ref, deleting)) return;
    // The ticket may have become a file after we looked for the file, and may even have ended since.
    row = await findRow(stores, ref);
  }
  const isDeleted = row?.state === 'ready' && (await deleteReady(stores, row, deleting, clock));
  if (!isDeleted) throw new ApiError('not_found');
}

/**
 * Takes a file out of the list and the books, and changes its row to `deleting`. Then removes the object, and then the row (decision 0039).
 * From the first step on, the row is in the index of unfinished work: if we die, or the storage is slow or fails, the sweeper takes the
 * other two steps. So the object of a listed file always exists, and the request succeeds even if the storage fails.
 * @returns false when another process has deleted the file since its row was read.
 */
async function deleteReady(
  stores: DeletingStores,
  file: ReadyFile,
  deadline: Deadline,
  clock: () => number,
): Promise<boolean> {
  const now = clock();
  const work = { now, dueAt: now + SWEEPER_WAITS_MS };
  if ((await stores.releases.releaseFile(file, work, deadline)) === 'changed') return false;
  await tryNow(file, () => finishDeletion(stores, file));
  return true;
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

/**
 * Cancels a pending ticket. Then stores an empty object under its key in `incoming/`, unless its bytes are there. If this write fails, or we
 * die before it, one PUT may still succeed. The bytes of that PUT become no file, and are removed when the ticket ends. Until then S3
 * refuses further PUTs.
 * @returns false when there is no pending ticket.
 */
async function cancelTicket(stores: DeletingStores, ref: FileRef, deadline: Deadline): Promise<boolean> {
  for (;;) {
    const ticket = await findTicket(stores, ref);
    if (ticket?.state !== 'pending') return false;
    // If the ticket was renewed since it was read, nothing is released, and we read it again. The deadline ends this loop.
    if ((await stores.releases.releaseTicket(ticket, 'cancelled', deadline)) === 'released') {
      await tryNow(ticket, () => stores.objects.occupy(incomingKey(ticket)));
      return true;
    }
  }
}

/**
 * Tries to finish a deletion or a cancellation. If this fails, the request still succeeds. The sweeper does what is left: for a file from
 * the time at which its row is due, for a ticket when it ends.
 */
async function tryNow(ref: FileRef, work: () => Promise<void>): Promise<void> {
  try {
    await briefly(work);
  } catch (error) {
    log('warn', 'deletion not finished; left to the sweeper', { fileId: ref.id, ...describeError(error) });
  }
}
