import { ApiError, serviceUnavailable } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { briefly, checkDeadline, type Deadline } from '../time-limit.ts';
import { type FileRef, type FileRow, hasLiveTicket } from './file.ts';
import { findRow } from './file-record.ts';
import type { FileStore, ReleaseStore } from './file-store.ts';
import { incomingKey, publicKeysOf } from './object-key.ts';
import type { ObjectStore } from './object-store.ts';

export interface DeletingStores {
  readonly files: FileStore;
  readonly objects: ObjectStore;
  readonly releases: ReleaseStore;
}

/** The row is due for the sweeper after this long. By then the function that deletes has ended in any case. */
const SWEEPER_WAITS_MS = 30_000;

interface Deleting extends Deadline {
  /** The row, if a read of it has begun already. What is out of date in it is found by the conditions of the writes. */
  readonly row?: Promise<FileRow | undefined>;
}

/** A row can change while we look: from pending to ready, then from ready to gone. */
const TURNS = 3;

/**
 * Deletes a file, or cancels a ticket. One transaction takes it out of the books; from then on it is gone for its owner. So
 * the rest can neither fail the request nor hold it up: we try once, briefly, to remove the object and the row, and the
 * sweeper removes what we leave. Of two simultaneous deletions, one succeeds and the other gets `not_found`.
 *
 * When a ticket is cancelled, an empty object takes its key in `incoming/`, unless its bytes are there. If that fails or we
 * die before it, one PUT may still succeed. Its bytes then keep further PUTs out, make no file, and are removed when the
 * ticket ends.
 * @throws ApiError `not_found` for an unknown id, an id of another account, an upload under way, and a deleted file.
 */
export async function deleteFile(
  stores: DeletingStores,
  ref: FileRef,
  deleting: Deleting,
  clock: () => number = Date.now,
): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) {
    checkDeadline(deleting);
    const row = await (turn === 0 && deleting.row ? deleting.row : findRow(stores, ref));
    if (row?.state === 'ready') {
      const work = { dueAt: clock() + SWEEPER_WAITS_MS };
      if ((await stores.releases.releaseFile(row, work, deleting)) === 'released') {
        return tryNow(row, () => removeLeftover(stores, row, clock()));
      }
    } else if (row?.state === 'pending' && row.via === 'ticket') {
      const outcome = await stores.releases.releaseTicket(row, 'cancelled', deleting);
      if (outcome === 'released') return tryNow(row, () => stores.objects.occupy(incomingKey(row)));
    } else {
      throw new ApiError('not_found');
    }
  }
  throw serviceUnavailable({ detail: 'the file changed each time' });
}

/**
 * Removes what is left of a file that is out of the books: first its objects, then its row. While its ticket lives, the
 * object in `incoming/` stays, and so does the row; when the ticket ends, the sweeper calls this again. If we die in between,
 * the row is still there, and due soon.
 * @param row  as it was before it became `deleting`, or as it is now.
 */
export async function removeLeftover(
  { files, objects }: Pick<DeletingStores, 'files' | 'objects'>,
  row: FileRow,
  now: number,
): Promise<void> {
  await Promise.all(publicKeysOf(row).map((key) => objects.remove(key)));
  if (hasLiveTicket(row, now)) return files.postpone(row, row.ticketEndsAt);
  if (row.via === 'ticket') await objects.remove(incomingKey(row));
  await files.remove(row);
}

/** Does what the sweeper would do later: when it fails, the deletion has succeeded all the same. */
async function tryNow(ref: FileRef, work: () => Promise<void>): Promise<void> {
  await briefly(work).catch((error) => {
    log('warn', 'deletion not finished; left to the sweeper', { fileId: ref.id, ...describeError(error) });
  });
}
