import { ApiError } from '../errors.ts';
import { type DeletingStores, deleteFile } from '../files/delete-file.ts';
import type { FileRef, StoredFile } from '../files/file.ts';
import { parseOwner } from '../files/object-key.ts';
import type { ObjectInventory } from '../files/object-store.ts';
import type { Deadline } from '../time-limit.ts';

export interface TakingDownStores extends DeletingStores {
  readonly inventory: Pick<ObjectInventory, 'ownerTag'>;
}

/** An object that somebody can download, and whose it is. */
export interface PublishedObject {
  readonly key: string;
  readonly owner: FileRef;
  /** Absent when no file has this object any more: its deletion is under way, or it was left behind. */
  readonly file?: StoredFile;
}

/** What is stored under a public key, by the owner it names itself; undefined when nothing is, or nothing of ours. */
export async function findPublished(stores: TakingDownStores, key: string): Promise<PublishedObject | undefined> {
  const owner = parseOwner((await stores.inventory.ownerTag(key)) ?? '');
  if (!owner) return undefined;
  const row = await stores.files.get(owner);
  return { key, owner, ...(row?.state === 'ready' && row.objectKey === key && { file: row }) };
}

/**
 * Ends a link, whoever owns it. A file is deleted as by its owner, so that the books are kept; then the object goes, also
 * if the deletion left that to the sweeper. Harmless twice.
 */
export async function takeDown(
  stores: TakingDownStores,
  { key, file }: PublishedObject,
  deadline: Deadline,
): Promise<void> {
  try {
    if (file) await deleteFile(stores, file, deadline);
  } catch (error) {
    // Its owner was quicker.
    if (!(error instanceof ApiError && error.code === 'not_found')) throw error;
  }
  await stores.objects.remove(key);
}
