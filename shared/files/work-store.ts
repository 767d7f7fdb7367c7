import type { FileRef, FileRow } from './file.ts';
import type { FileStore, ReleaseStore } from './file-store.ts';
import type { ObjectInventory, ObjectStore } from './object-store.ts';

/** A row with a deadline, as the index of unfinished work shows it (which may be some seconds behind the row). */
export interface WorkItem extends FileRef {
  readonly dueAt: number;
}

/** How far the walk of the bucket is. Times are epoch milliseconds. */
export interface WalkState {
  readonly startedAt: number;
  /** The page after this key is next; absent at the beginning, and when the walk is over. */
  readonly after?: string;
  readonly isOver: boolean;
  /** Objects older than this had their row when an earlier walk looked. */
  readonly checkedBefore: number;
  /** What this walk looks at is older than this. */
  readonly until: number;
  /** True when something could not be looked at, so that the next walk has to. */
  readonly hasFailed: boolean;
}

/** What the sweeper has to do, and how far it is. */
export interface WorkStore {
  /** The longest overdue items of one of the {@link WORK_SHARDS}. */
  due(shard: number, now: number, limit: number): Promise<WorkItem[]>;

  /**
   * Takes an item until `dueAt`, when it is due again unless its work is done by then.
   * @returns the row as it is now; undefined when somebody else has taken, renewed or finished it.
   */
  claim(item: WorkItem, dueAt: number): Promise<FileRow | undefined>;

  /** Nothing is left of the ticket of a ready file. */
  finishReady(ref: FileRef): Promise<void>;

  walk(): Promise<WalkState | undefined>;
  saveWalk(state: WalkState): Promise<void>;
}

/** So many partitions of the index that no one of them takes every upload (1,000 writes a second each). */
export const WORK_SHARDS = 16;

/** The shard of a file: by the last digit of its id, which is random. */
export function workShardOf({ id }: FileRef): number {
  return Number.parseInt(id.slice(-1), 16);
}

/** What the sweeper works on: its own list of work, and all that others may have left half done. */
export interface SweepingStores {
  readonly files: FileStore;
  readonly objects: ObjectStore;
  readonly inventory: ObjectInventory;
  readonly releases: ReleaseStore;
  readonly work: WorkStore;
}
