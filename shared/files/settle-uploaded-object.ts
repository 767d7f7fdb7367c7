import { ApiError } from '../errors.ts';
import { type Completing, type CompletingStores, completeUpload } from './complete-upload.ts';
import { hasLiveTicket } from './file.ts';
import { fileOfIncomingKey } from './object-key.ts';

/**
 * What to do when the bucket says that something has arrived under a key: make the file if the ticket still waits for its
 * bytes, whether or not its client comes back to complete it. What nothing waits for stays there while the ticket lives,
 * because it keeps further bytes out; later it is removed. Events come late, twice and out of order: only the row and the
 * object decide, so those of the empty objects that we put there ourselves do nothing.
 *
 * An attempt of the client that is at work is waited for, to the end of its lease if it died: the two meet as a rule.
 * @throws ApiError `service_unavailable`: the event is to be delivered again.
 */
export async function settleUploadedObject(
  stores: CompletingStores,
  key: string,
  completing: Completing,
  clock: () => number = Date.now,
): Promise<'settled' | 'nothing waits' | 'removed' | 'refused'> {
  const ref = fileOfIncomingKey(key);
  if (!ref) return 'nothing waits';
  const row = await stores.files.get(ref);
  if (row?.state !== 'pending') {
    if (row && hasLiveTicket(row, clock())) return 'nothing waits';
    await stores.objects.remove(key);
    return 'removed';
  }
  try {
    await completeUpload(stores, ref, { ...completing, patienceMs: Number.POSITIVE_INFINITY }, clock);
    return 'settled';
  } catch (error) {
    // Cancelled or swept since, or the account was suspended, or may have no further file: the row and the sweeper see to the rest.
    if (error instanceof ApiError && error.status < 500) return 'refused';
    throw error;
  }
}
