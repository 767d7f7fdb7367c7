import { type Account, type AccountStore, getAccount } from '../accounts/account.ts';
import type { FilePage, ListedFile } from './file.ts';
import { findOffset, readyByGroup, readyByLeaf, seqsOfGroup, seqsOfLeaf } from './listing-counters.ts';
import { type SearchingStores, searchFiles } from './search-files.ts';
import type { ListingStore } from './stores.ts';

export interface ListingStores extends SearchingStores {
  readonly accounts: AccountStore;
}

export interface PageRequest {
  readonly accountId: string;
  /** From 1. */
  readonly page: number;
  readonly limit: number;
  /** A part of the name. When it is absent or empty, all files are listed. */
  readonly search?: string | undefined;
}

/**
 * Returns a page of an account's files, newest first, by three reads: the account, the leaves of one group, the files. Page 1 needs no leaves. A page
 * costs a few read units, however many files there are. A search reads every name.
 *
 * Pages are counted from the newest file. So uploads and deletions between two requests may move a file from one page to another.
 * @throws ApiError `unauthorized` when the account is gone.
 */
export async function listFiles(stores: ListingStores, request: PageRequest): Promise<FilePage> {
  const { accountId, page, limit, search } = request;
  const account = await getAccount(stores.accounts, accountId);
  const offset = (page - 1) * limit;
  if (search) return searchFiles(stores, account, { search, offset, limit });
  const files = await filesAt(stores.listing, account, offset, limit);
  return { files, total: account.fileCount };
}

async function filesAt(listing: ListingStore, account: Account, offset: number, limit: number): Promise<ListedFile[]> {
  if (offset === 0) return readDownFrom(listing, account.id, account.nextSeq - 1, limit);
  const inGroup = findOffset(readyByGroup(account), offset);
  if (!inGroup) return [];
  const removed = await listing.removedByLeaf(account.id, inGroup.index);
  const inLeaf = findOffset(readyByLeaf(account.nextSeq, inGroup.index, removed), inGroup.offset);
  if (!inLeaf) {
    // Files of this group were deleted between the two reads, so the page begins below the group.
    return readDownFrom(listing, account.id, seqsOfGroup(inGroup.index).low - 1, limit);
  }
  // Leave out the files that were added after the account was read. With them, the other files would be on other pages.
  const high = Math.min(seqsOfLeaf(inLeaf.index).high, account.nextSeq - 1);
  return (await readDownFrom(listing, account.id, high, inLeaf.offset + limit)).slice(inLeaf.offset);
}

async function readDownFrom(
  listing: ListingStore,
  accountId: string,
  high: number,
  limit: number,
): Promise<ListedFile[]> {
  if (high < 0) return [];
  return (await listing.files(accountId, { low: 0, high }, limit)).files;
}
