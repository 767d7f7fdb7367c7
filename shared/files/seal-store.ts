import type { ListedFile } from './file.ts';
import type { LeafRange } from './listing-counters.ts';
import type { Seal } from './sealed-names.ts';

/** A leaf whose seal is missing or out of date, under the lease of a sweeper. */
export interface LeafAtWork {
  readonly accountId: string;
  readonly leaf: number;
  /** The deleted files of the leaf when the lease was taken: a bit for each (see `bitOf`). */
  readonly removed: bigint;
  /** The end of the lease in epoch milliseconds. It is different for every lease on the leaf, so it identifies the lease. */
  readonly leaseEndsAt: number;
}

/** A seq, and the id of the file that has it. */
export type FileAtSeq = Pick<ListedFile, 'id' | 'seq'>;

/** The sealed names of an account's leaves (see `sealed-names.ts`), and which of their files are deleted. */
export interface SealStore {
  /**
   * Reads the seals of a range of leaves, eventually consistent: a seal that was written in the last second may be missing, or
   * hold the names that were just taken out of it.
   */
  seals(accountId: string, leaves: LeafRange): Promise<ReadonlyMap<number, Seal>>;

  /** Reads strongly which files of a range of leaves are deleted: a bit for each. A leaf may be absent when none is. */
  removed(accountId: string, leaves: LeafRange): Promise<ReadonlyMap<number, bigint>>;

  /**
   * Writes the seal of a leaf, and ends its work, in one transaction. Does neither when a file of the leaf was deleted since the
   * lease was taken, when the lease has passed to another sweeper, or when the rows of the leaves were removed with the account.
   * So no name comes back, however late this write arrives.
   * @param files  the files of the leaf, in any order. Their ids are written as well, for {@link ListingStore.filesAt}.
   */
  seal(work: LeafAtWork, seal: Seal, files: readonly FileAtSeq[]): Promise<'sealed' | 'changed'>;

  /** Ends the work on a leaf that has no seal yet, unless it has become work again since the lease was taken. */
  leaveUnsealed(work: LeafAtWork): Promise<void>;
}
