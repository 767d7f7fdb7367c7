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
