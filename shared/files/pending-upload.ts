import { ApiError } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';
import type { PendingUpload } from './file.ts';
import type { FileStore } from './file-store.ts';
import type { ObjectStore } from './object-store.ts';

/**
 * Removes an upload that must not become a file. It is given up first, so that no settlement under way can succeed; then the
 * object is removed, then the row. When we fail or die in between, the sweeper does the rest.
 * @returns `settled` when the upload has become a file already; then the file stays.
 */
export async function discardUpload(
  stores: { readonly files: FileStore; readonly objects: ObjectStore },
  upload: PendingUpload,
): Promise<'discarded' | 'left to the sweeper' | 'settled'> {
  try {
    if ((await stores.files.giveUp(upload)) === 'settled') return 'settled';
    await briefly(async () => {
      await stores.objects.remove(upload.objectKey);
      await stores.files.remove(upload);
    });
  } catch (error) {
    log('warn', 'upload not discarded; the sweeper will', { fileId: upload.id, ...describeError(error) });
    return 'left to the sweeper';
  }
  return 'discarded';
}

/** The lease is renewed when this part of it has passed, so that two renewals in a row may fail. */
const RENEW_AFTER = 1 / 3;

/**
 * Makes a function that renews the lease on the row of an upload; call it whenever bytes arrive.
 * @returns the function. It throws ApiError `timeout` when the lease had ended and the sweeper took the upload.
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
