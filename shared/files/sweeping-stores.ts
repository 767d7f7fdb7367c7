import type { FileStore } from './file-store.ts';
import type { ObjectInventory } from './object-inventory.ts';
import type { ObjectStore } from './object-store.ts';
import type { ReleaseStore } from './release-store.ts';
import type { WorkStore } from './work-store.ts';

/** What the sweeper works on: its own list of work, and all that others may have left half done. */
export interface SweepingStores {
  readonly files: FileStore;
  readonly objects: ObjectStore;
  readonly inventory: ObjectInventory;
  readonly releases: ReleaseStore;
  readonly work: WorkStore;
}
