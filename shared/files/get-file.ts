import { ApiError } from '../errors.ts';
import { isUuid } from '../ids.ts';
import type { FileRef, StoredFile } from './file.ts';
import type { FileStore } from './file-store.ts';

/**
 * One file.
 * @throws ApiError `not_found` for an unknown id, another account's, and what is not ready or is being deleted: all alike.
 */
export async function getFile(stores: { readonly files: FileStore }, ref: FileRef): Promise<StoredFile> {
  // Other rows of the account, such as the listing counters, have other ids.
  const row = isUuid(ref.id) ? await stores.files.get(ref) : undefined;
  if (row?.state !== 'ready') throw new ApiError('not_found');
  return row;
}
