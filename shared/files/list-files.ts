import { type Account, type AccountStore, getAccount } from '../accounts/account.ts';
import type { FilePage, ListedFile } from './file.ts';
import type { ListingStore } from './file-store.ts';
import { findOffset, seqsOfGroup, seqsOfLeaf } from './listing-counters.ts';
import { searchFiles } from './search-files.ts';

export interface ListingStores {
  readonly accounts: AccountStore;
  readonly listing: ListingStore;
}

export interface PageRequest {
  readonly accountId: string;
  /** From 1. */
  readonly page: number;
  readonly limit: number;
  /** A part of the name. All files when absent or empty. */
  readonly search?: string | undefined;
}

/**
 * A page of an account's files, newest first. Every page takes three reads in a row (account, leaves, files) and a few
 * read units, however many files there are; a search reads every name.
 *
 * Pages are offsets: between two requests, uploads and deletions may move a file from one page to the next.
 */
export async function listFiles(stores: ListingStores, request: PageRequest): Promise<FilePage> {
  const account = await getAccount(stores.accounts, request.accountId);
  const offset = (request.page - 1) * request.limit;
  if (request.search)
    return searchFiles(stores.listing, account, { search: request.search, offset, limit: request.limit });
  const files = await filesAt(stores.listing, account, offset, request.limit);
  // A file that arrived between the first read and the last may be on the page; then the total includes it.
  return { files, total: Math.max(account.fileCount, files.length > 0 ? offset + files.length : 0) };
}

async function filesAt(listing: ListingStore, account: Account, offset: number, limit: number): Promise<ListedFile[]> {
  const inGroup = findOffset(account.groups, offset);
  if (!inGroup) return [];
  const leaves = await listing.leaves(account.id, inGroup.index);
  const inLeaf = findOffset(leaves, inGroup.offset);
  if (!inLeaf) {
    // Files of this group were deleted between the two reads, so the page begins below the group.
    return downFrom(listing, account.id, seqsOfGroup(inGroup.index).low - 1, limit);
  }
  const leaf = seqsOfLeaf(inLeaf.index);
  const skipped = inLeaf.offset;
  const wanted = inLeaf.count - skipped;
  if (skipped <= wanted) {
    return (await downFrom(listing, account.id, leaf.high, skipped + limit)).slice(skipped);
  }
  // We read from the nearer end of the leaf: its oldest files upwards, and the rest of the page downwards from the leaf.
  const [ofLeaf, below] = await Promise.all([
    listing.files(account.id, leaf, { end: 'oldest', limit: wanted }),
    wanted < limit ? downFrom(listing, account.id, leaf.low - 1, limit - wanted) : [],
  ]);
  return [...ofLeaf.files.reverse(), ...below].slice(0, limit);
}

async function downFrom(listing: ListingStore, accountId: string, high: number, limit: number): Promise<ListedFile[]> {
  if (high < 0) return [];
  return (await listing.files(accountId, { low: 0, high }, { end: 'newest', limit })).files;
}
