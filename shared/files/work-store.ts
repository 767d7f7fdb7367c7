import type { AccountStore } from '../accounts/account.ts';
import type { DeletedFile, FileRef } from './file.ts';
import type { ObjectInventory, ObjectStore } from './object-store.ts';
import type { LeasedLeaf, SealStore } from './seal-leaf.ts';
import type { FileStore, ListingStore, ReleaseStore, TicketStore } from './stores.ts';

/** A row with a deadline, as the index of unfinished work shows it. The index may be some seconds behind the row. */
export interface WorkItem extends FileRef {
  readonly dueAt: number;
  /** The number of the leaf, when the row belongs to a leaf whose seal has to be written; absent when the row belongs to a file. */
  readonly leaf?: number;
}

/** The progress of the walk of one range of the bucket. Times are epoch milliseconds. */
export interface WalkState {
  readonly startedAt: number;
  /** The next page begins after this key; absent at the beginning of the range, and when the walk is over. */
  readonly after?: string;
  readonly isOver: boolean;
  /** An earlier walk has checked the objects that are older than this. */
  readonly checkedBefore: number;
  /** This walk checks only objects that are older than this. */
  readonly until: number;
  /** True when an object could not be checked; then the next walk checks it. */
  readonly hasFailed: boolean;
}

/** The sweeper's list of work, and the state of its walk. */
export interface WorkStore {
  /**
   * The items of all shards that are due at `now`, found by a single read of the whole index, however many shards there are.
   * @returns undefined when the index has `limit` rows or more, due or not. Then each shard has to be asked.
   */
  dueAmongFew(now: number, limit: number): Promise<WorkItem[] | undefined>;

  /** Up to `limit` items of a shard (`shards.ts`) that are due at `now`, the longest overdue first. */
  due(shard: number, now: number, limit: number): Promise<WorkItem[]>;

  /**
   * Takes a lease on the row of a deleted file. The row is due again at `dueAt`, unless its work is done by then.
   * @returns the row; undefined when it was taken or finished by another process.
   */
  lease(item: WorkItem, dueAt: number): Promise<DeletedFile | undefined>;

  /** Takes a lease on a leaf, as {@link lease} does. */
  leaseLeaf(item: WorkItem & { readonly leaf: number }, dueAt: number): Promise<LeasedLeaf | undefined>;

  /** Reads strongly how far each range of the bucket has been walked, by shard. */
  walks(): Promise<ReadonlyMap<number, WalkState>>;
  saveWalk(shard: number, state: WalkState): Promise<void>;
}

/** What the sweeper needs: its list of work, and all that a request may have left half done. */
export interface SweepingStores {
  readonly accounts: AccountStore;
  readonly files: FileStore;
  readonly objects: ObjectStore;
  readonly inventory: ObjectInventory;
  readonly listing: ListingStore;
  readonly releases: ReleaseStore;
  readonly seals: SealStore;
  readonly tickets: TicketStore;
  readonly work: WorkStore;
}
