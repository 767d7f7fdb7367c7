import { ApiError } from '../errors.ts';
import { type Completing, type CompletingStores, completeUpload } from './complete-upload.ts';
import { fileOfIncomingKey } from './object-key.ts';

/**
 * What to do when the bucket says that bytes have arrived under a key: make the file if its client never comes back to
 * complete it; throw the bytes away if nobody waits for them (the ticket was cancelled, or is over, or was settled and its
 * URL used again). Events come late, twice and out of order: only the row and the object decide.
 * @throws ApiError `service_unavailable`: the event is to be delivered again.
 */
export async function settleUploadedObject(
  stores: CompletingStores,
  key: string,
  completing: Completing,
  clock: () => number = Date.now,
): Promise<'settled' | 'nothing waits' | 'already gone'> {
  const ref = fileOfIncomingKey(key);
  if (!ref) return 'nothing waits';
  const row = await stores.files.get(ref);
  if (row?.state !== 'pending') {
    await stores.objects.remove(key);
    return 'nothing waits';
  }
  try {
    await completeUpload(stores, ref, completing, clock);
    return 'settled';
  } catch (error) {
    // Removed since by a sweeper, a cancel or an attempt that was quicker, or the account may have no further file; if
    // bytes come again, so does an event.
    if (error instanceof ApiError && error.status < 500) return 'already gone';
    throw error;
  }
}
