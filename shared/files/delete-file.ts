import { ApiError, serviceUnavailable } from '../errors.ts';
import { isUuid } from '../ids.ts';
import { describeError, log } from '../log.ts';
import { briefly, checkDeadline, type Deadline } from '../time-limit.ts';
import { type FileRef, type FileRow, hasLiveTicket } from './file.ts';
import type { FileStore, ReleaseStore } from './file-store.ts';
import { incomingKey, publicKeysOf } from './object-key.ts';
import type { ObjectStore } from './object-store.ts';

/**
 * Removes what is left of a file that is out of the books: first its objects, then its row. While its ticket lives, its key in
 * `incoming/` stays taken, and the row stays to say so; when the ticket ends, the sweeper calls this again. A process that
 * dies in between leaves a row that is due soon.
 * @param row  as it was before it became `deleting`, or as it is now.
 */
export async function removeLeftover(
  { files, objects }: { readonly files: FileStore; readonly objects: ObjectStore },
  row: FileRow,
  now: number,
): Promise<void> {
  await Promise.all(publicKeysOf(row).map((key) => objects.remove(key)));
  if (hasLiveTicket(row, now)) return files.postpone(row, row.ticketEndsAt);
  if (row.via === 'ticket') await objects.remove(incomingKey(row));
  await files.remove(row);
}

export interface DeletingStores {
  readonly files: FileStore;
  readonly objects: ObjectStore;
  readonly releases: ReleaseStore;
}

/** The sweeper takes over after this long: by then the function that deletes has ended, one way or the other. */
const OURS_MS = 30_000;
/** A row can change under us from pending to ready, and from ready to gone. */
const TURNS = 3;

/**
 * Deletes a file, or cancels a ticket. One transaction takes it out of the books; from then on it is gone for its owner,
 * so what follows can neither fail nor hold up the request: the object goes, then the row, and the sweeper does what we
 * leave undone after one short try. Of two at once one deletes and the other is told `not_found`.
 *
 * The key of a cancelled ticket is taken by an empty object, unless its bytes are there. If we die before, or it fails, one
 * PUT may still succeed; its bytes then keep out the next, make no file, and go when the ticket ends.
 * @throws ApiError `not_found` for an unknown id, another account's, an upload under way, and what was deleted before.
 */
export async function deleteFile(
  stores: DeletingStores,
  ref: FileRef,
  deadline: Deadline,
  clock: () => number = Date.now,
): Promise<void> {
  if (!isUuid(ref.id)) throw new ApiError('not_found');
  for (let turn = 0; turn < TURNS; turn++) {
    checkDeadline(deadline);
    const row = await stores.files.get(ref);
    if (row?.state === 'ready') {
      const work = { dueAt: clock() + OURS_MS };
      if ((await stores.releases.releaseFile(row, work, deadline)) === 'released') {
        return orLeaveIt(row, () => removeLeftover(stores, row, clock()));
      }
    } else if (row?.state === 'pending' && row.via === 'ticket') {
      const outcome = await stores.releases.releaseTicket(row, 'cancelled', deadline);
      if (outcome === 'released') return orLeaveIt(row, () => stores.objects.occupy(incomingKey(row)));
    } else {
      throw new ApiError('not_found');
    }
  }
  throw serviceUnavailable({ detail: 'file changed all the time' });
}

async function orLeaveIt(ref: FileRef, work: () => Promise<void>): Promise<void> {
  await briefly(work).catch((error) => {
    log('warn', 'deletion not finished; the sweeper will', { fileId: ref.id, ...describeError(error) });
  });
}
