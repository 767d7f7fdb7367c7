import type { AccountStore } from '../accounts/account.ts';
import { type LeafRange, seqsOfLeaf } from './listing-counters.ts';
import { type Seal, sealOf } from './sealed-names.ts';
import type { ListingStore } from './stores.ts';

/** A leaf whose seal is missing or out of date, under the lease of a sweeper. */
export interface LeasedLeaf {
  readonly accountId: string;
  readonly leaf: number;
  /** The deleted files of the leaf when the lease was taken: a bit for each (see `bitOf`). */
  readonly removed: bigint;
  /** The end of the lease in epoch milliseconds. It is different for every lease on the leaf, so it identifies the lease. */
  readonly leaseEndsAt: number;
}

/** What the row of a leaf says. */
export interface LeafState {
  /** The deleted files: a bit for each (see `bitOf`). */
  readonly removed: bigint;
  /** True when the sweeper has the leaf on its list, or is writing its seal. */
  readonly isDue: boolean;
}

/** The sealed names of an account's leaves (see `sealed-names.ts`), and which of their files are deleted. */
export interface SealStore {
  /**
   * Reads the seals of a range of leaves, by eventually consistent reads. A seal that was written in the last second may be missing. A seal
   * may still hold names that were removed from it in the last second.
   */
  seals(accountId: string, leaves: LeafRange): Promise<ReadonlyMap<number, Seal>>;

  /** Reads strongly. A leaf is absent when it has no deleted files and is not due. */
  states(accountId: string, leaves: LeafRange): Promise<ReadonlyMap<number, LeafState>>;

  /**
   * Makes the sweeper write the seals of these leaves in its next run, in one transaction. A leaf that is due already stays as it is, and so
   * does a lease on it. So two callers at once do the same as one. Nothing is written when the account is suspended or gone. (While an
   * account is being deleted it is suspended, so no row of a leaf is left behind.)
   */
  sealAgain(accountId: string, leaves: readonly number[], now: number): Promise<void>;

  /**
   * Writes the seal of a leaf, and takes the leaf out of the index of unfinished work, in one transaction. The transaction writes nothing
   * in three cases:
   * - a file of the leaf was deleted since the lease was taken;
   * - the lease has passed to another sweeper;
   * - the rows of the leaves were removed with the account.
   *
   * So a removed name never comes back, however late this transaction arrives.
   */
  seal(work: LeasedLeaf, seal: Seal): Promise<'sealed' | 'changed'>;

  /**
   * Takes a leaf that has no seal yet out of the index of unfinished work. The leaf stays there if it has become due again since the lease
   * was taken.
   */
  leaveUnsealed(work: LeasedLeaf): Promise<void>;
}

interface SealingStores {
  readonly accounts: AccountStore;
  readonly listing: ListingStore;
  readonly seals: SealStore;
}

/**
 * Brings the seal of a leaf up to date: it gets the names of all files that the leaf has now. The sweeper calls this function after a
 * transaction has filled the leaf, and again a day after the next deletion. That call removes the names of all files that were deleted in
 * that day. It also calls this function after a search could not read the seal.
 *
 * The result depends only on the leaf, so the call may be repeated. If we die, the leaf is due again when its lease ends. Until then a
 * search reads the leaf from the index, or hides the deleted files by their bits.
 * @returns false when a file of the leaf was deleted meanwhile, or another sweeper has the lease: then the leaf is due again.
 */
export async function sealLeaf(stores: SealingStores, work: LeasedLeaf): Promise<boolean> {
  const { accountId, leaf } = work;
  const { low, high } = seqsOfLeaf(leaf);
  const account = await stores.accounts.get(accountId);
  if (!account || account.nextSeq <= high) {
    // The leaf is not full yet. The transaction that fills it makes it due again.
    await stores.seals.leaveUnsealed(work);
    return true;
  }
  // The bits were read before the names. If a file was deleted in between, the bits have changed, and the seal is not written.
  const { files } = await stores.listing.files(accountId, { low, high });
  return (await stores.seals.seal(work, sealOf(files))) === 'sealed';
}
