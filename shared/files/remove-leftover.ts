import { type FileRow, hasLiveTicket } from './file.ts';
import type { FileStore } from './file-store.ts';
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
  if (row.lane === 'direct') await objects.remove(incomingKey(row));
  await files.remove(row);
}
