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
 * Returns a page of an account's files, newest first. Page 1 takes two simultaneous reads (account, files). Every other page takes
 * three, one after the other (account, leaves, files). Both cost a few read units, however many files there are. A search reads every
 * name.
 *
 * Pages are counted from the newest file. So uploads and deletions between two requests may move a file from one page to another.
 * @throws ApiError `unauthorized` when the account is gone.
 */
export async function listFiles(stores: ListingStores, request: PageRequest): Promise<FilePage> {
  const { accountId, page, limit, search } = request;
  const [account, newest] = await Promise.all([
    getAccount(stores.accounts, accountId),
    page === 1 && !search ? readDownFrom(stores.listing, accountId, Number.MAX_SAFE_INTEGER, limit) : undefined,
  ]);
  const offset = (page - 1) * limit;
  if (search) return searchFiles(stores, account, { search, offset, limit });
  if (newest) return firstPage(account, newest, limit);
  const files = await filesAt(stores.listing, account, offset, limit);
  return { files, total: account.fileCount };
}

/**
 * The account and the files were read at the same time. So a file that was added or deleted meanwhile may show in only one of the two
 * reads. A first page that is not full has all files, so its length is the total. For a full page the total is the count in the account's
 * row, but at least the length of the page.
 */
function firstPage(account: Account, files: ListedFile[], limit: number): FilePage {
  const isAll = files.length < limit;
  return { files, total: isAll ? files.length : Math.max(account.fileCount, files.length) };
}

async function filesAt(listing: ListingStore, account: Account, offset: number, limit: number): Promise<ListedFile[]> {
  const inGroup = findOffset(readyByGroup(account), offset);
  if (!inGroup) return [];
  const removed = await listing.removedByLeaf(account.id, inGroup.index);
  const inLeaf = findOffset(readyByLeaf(account.nextSeq, inGroup.index, removed), inGroup.offset);
  if (!inLeaf) {
    // Files of this group were deleted between the two reads, so the page begins below the group.
    return readDownFrom(listing, account.id, seqsOfGroup(inGroup.index).low - 1, limit);
  }
  const { low, high } = seqsOfLeaf(inLeaf.index);
  // Leave out the files that were added after the account was read. With them, the other files would be on other pages.
  const leaf = { low, high: Math.min(high, account.nextSeq - 1) };
  const skipped = inLeaf.offset;
  const wanted = inLeaf.count - skipped;
  if (skipped <= wanted) {
    return (await readDownFrom(listing, account.id, leaf.high, skipped + limit)).slice(skipped);
  }
  // We read from the nearer end of the leaf: its oldest files upwards, and the rest of the page downwards from the leaf.
  const [ofLeaf, below] = await Promise.all([
    listing.files(account.id, leaf, { end: 'oldest', limit: wanted }),
    wanted < limit ? readDownFrom(listing, account.id, leaf.low - 1, limit - wanted) : [],
  ]);
  return [...ofLeaf.files.reverse(), ...below].slice(0, limit);
}

async function readDownFrom(
  listing: ListingStore,
  accountId: string,
  high: number,
  limit: number,
): Promise<ListedFile[]> {
  if (high < 0) return [];
  return (await listing.files(accountId, { low: 0, high }, { end: 'newest', limit })).files;
}
