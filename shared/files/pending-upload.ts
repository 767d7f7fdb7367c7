import { ApiError } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';
import type { PendingUpload } from './file.ts';
import type { FileStore } from './file-store.ts';
import type { ObjectStore } from './object-store.ts';

/**
 * Removes an upload that is not to become a file: it is given up first, so that no settlement under way can succeed, then
 * the object goes, then the row. Whatever fails or dies in between is left to the sweeper.
 * @returns `settled` when it has become a file in spite of all, and stays.
 */
export async function discardUpload(
  stores: { readonly files: FileStore; readonly objects: ObjectStore },
  upload: PendingUpload,
): Promise<'discarded' | 'settled'> {
  try {
    if ((await stores.files.giveUp(upload)) === 'settled') return 'settled';
    await briefly(async () => {
      await stores.objects.remove(upload.objectKey);
      await stores.files.remove(upload);
    });
  } catch (error) {
    log('warn', 'upload not discarded; the sweeper will', { fileId: upload.id, ...describeError(error) });
  }
  return 'discarded';
}

/** Renewed when this part of the lease has passed, so that two renewals in a row may fail. */
const RENEW_AFTER = 1 / 3;

/**
 * A function to be called at every sign of life of an upload, which keeps the lease on its row from ending.
 * @throws ApiError `timeout` (from the function) when the lease had ended and the sweeper took the upload.
 */
export function renewingLease(
  files: FileStore,
  upload: PendingUpload,
  { leaseMs, clock }: { leaseMs: number; clock: () => number },
): () => Promise<void> {
  let renewAt = upload.dueAt - leaseMs + leaseMs * RENEW_AFTER;
  return async () => {
    const now = clock();
    if (now < renewAt) return;
    renewAt = now + leaseMs * RENEW_AFTER;
    const isAlive = await files.renew(upload, now + leaseMs).catch((error) => {
      log('warn', 'lease not renewed; it is tried again', { fileId: upload.id, ...describeError(error) });
      return true;
    });
    if (!isAlive) throw new ApiError('timeout', { detail: 'no byte came for as long as a lease lasts' });
  };
}
