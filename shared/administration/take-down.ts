import { undefinedIfNotFound } from '../errors.ts';
import { type DeletingStores, deleteFile } from '../files/delete-file.ts';
import type { FileRef, StoredFile } from '../files/file.ts';
import { parseOwner } from '../files/object-key.ts';
import type { ObjectInventory } from '../files/object-store.ts';
import type { Deadline } from '../time-limit.ts';

export interface TakingDownStores extends DeletingStores {
  readonly inventory: Pick<ObjectInventory, 'ownerTag'>;
}

/** An object that can be downloaded, and its owner. */
export interface PublishedObject {
  readonly key: string;
  readonly owner: FileRef;
  /** Absent when the object belongs to no ready file: the deletion of the file is under way, or the object was left behind. */
  readonly file?: StoredFile;
}

/**
 * Finds the object with this key. The metadata of the object name its owner.
 * @returns undefined when there is no such object, or its metadata name no owner.
 */
export async function findPublished(stores: TakingDownStores, key: string): Promise<PublishedObject | undefined> {
  const owner = parseOwner((await stores.inventory.ownerTag(key)) ?? '');
  if (!owner) return undefined;
  const row = await stores.files.get(owner);
  return { key, owner, ...(row?.state === 'ready' && row.objectKey === key && { file: row }) };
}

/**
 * Makes the link to an object dead, whichever account owns the object. The file is deleted as its owner would delete it, so that the books
 * stay right. Then the object is removed, even if the deletion has left the object to the sweeper. May be repeated.
 */
export async function takeDown(
  stores: TakingDownStores,
  { key, file }: PublishedObject,
  deadline: Deadline,
): Promise<void> {
  // The owner may have deleted the file meanwhile.
  if (file) await deleteFile(stores, file, deadline).catch(undefinedIfNotFound);
  await stores.objects.remove(key);
}
