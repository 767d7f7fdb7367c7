import type { AccountStore } from '../accounts/account.ts';
import { seqsOfLeaf } from './listing-counters.ts';
import type { LeafAtWork, SealStore } from './seal-store.ts';
import { sealOf } from './sealed-names.ts';
import type { ListingStore } from './stores.ts';

interface SealingStores {
  readonly accounts: AccountStore;
  readonly listing: ListingStore;
  readonly seals: SealStore;
}

/**
 * Brings the seal of a leaf up to date: it gets the names of all files that the leaf has now. The sweeper calls this after the
 * transaction that fills a leaf, and after every deletion, to take the name of the deleted file out.
 *
 * The result depends only on the leaf, so this is harmless twice. If we die, the leaf is due again when its lease ends. Until then a
 * search reads the leaf from the index, or hides the deleted files by their bits.
 * @returns false when a file of the leaf was deleted meanwhile, or another sweeper has the lease: then it is due again.
 */
export async function sealLeaf(stores: SealingStores, work: LeafAtWork): Promise<boolean> {
  const { accountId, leaf } = work;
  const { low, high } = seqsOfLeaf(leaf);
  const account = await stores.accounts.get(accountId);
  if (!account || account.nextSeq <= high) {
    // The leaf is not full yet. The transaction that fills it makes it due again.
    await stores.seals.leaveUnsealed(work);
    return true;
  }
  // The bits were read before the names. A deletion in between changes the bits, and then the seal is not written.
  const { files } = await stores.listing.files(accountId, { low, high }, { end: 'newest' });
  return (await stores.seals.seal(work, sealOf(files), files)) === 'sealed';
}
