import type { Account } from '../accounts/account.ts';
import { FILE_NAME_MAX_BYTES } from '../contract/limits.ts';
import { eachOf } from '../each-of.ts';
import type { FilePage, ListedFile } from './file.ts';
import {
  bitOf,
  type LeafRange,
  leafOf,
  leavesOfGroup,
  readyByGroup,
  type SeqRange,
  seqsOfLeaf,
} from './listing-counters.ts';
import type { SealStore } from './seal-leaf.ts';
import { foldName, isReadable, NAME_SEPARATOR, positionsWith, type Seal } from './sealed-names.ts';
import type { ListingStore } from './stores.ts';

/** This many ranges of leaves, or of the files of a page, are read at the same time. */
const CONCURRENCY = 8;
/** At most this many leaves are read together: half a megabyte of short names, 8 MB of the longest. */
const LEAVES_PER_RANGE = 512;
/**
 * Files of a page that are at most this many seqs apart are read by one call. The rows between them cost two read units; a second call
 * would cost more.
 */
const NEAR_SEQS = 32;

/**
 * A longer text cannot be part of a name, so its result is empty, without a read. It is not even folded, because folding takes
 * quadratic time for a run of accents.
 *
 * A text may be longer than the part of a name that it matches, because it may be spelled in another way: in upper or lower case, with
 * composed or separate accents. But no spelling has more than one and a half UTF-16 code units for each byte of the name. This bound is
 * four times as high.
 */
const SEARCH_MAX_LENGTH = 6 * FILE_NAME_MAX_BYTES;

export interface SearchingStores {
  readonly listing: ListingStore;
  readonly seals: SealStore;
}

interface Search {
  readonly search: string;
  readonly offset: number;
  readonly limit: number;
}

/**
 * Finds the files whose names contain the searched text, in upper or lower case. First it reads the names: the seals of the full leaves, in
 * parallel ranges, and the leaves without a seal from the index. Usually only the newest leaf has no seal. Then it reads the files of the
 * page.
 *
 * It finds every file whose upload was answered before the search began: such a file is in the index, or in a sealed leaf. It finds no
 * deleted file: the bits of the deleted files are read strongly, and so are the files of the page. A file may be deleted between the read
 * of its bit and the read of its row. Then the file is missing on the page, but counted in the total. Memory holds the ranges that are
 * being read, and a number for each match: some ten megabytes when 1,000,000 files match.
 */
export async function searchFiles(
  stores: SearchingStores,
  account: Account,
  { search, offset, limit }: Search,
): Promise<FilePage> {
  const none = { files: [], total: 0 };
  if (search.length > SEARCH_MAX_LENGTH || search.includes(NAME_SEPARATOR)) return none;
  const part = foldName(search);
  // The newest range has no upper end, so files that are added while we read are found as well.
  const newest = { low: seqsOfLeaf(leafOf(account.nextSeq)).low, high: Number.MAX_SAFE_INTEGER };
  const reads = [
    () => searchIndex(stores.listing, account.id, newest, part),
    ...rangesOf(account).map((leaves) => () => searchLeaves(stores, account.id, leaves, part)),
  ];
  const seqs = (await eachOf(reads, CONCURRENCY, (read) => read())).flat();
  const page = seqs.slice(offset, offset + limit);
  return { files: await filesOf(stores.listing, account.id, { page, part }), total: seqs.length };
}

/** The full leaves in ranges of about equal work, newest first, without the groups whose files are all deleted. */
function rangesOf(account: Account): LeafRange[] {
  const ranges: LeafRange[] = [];
  const full = leafOf(account.nextSeq);
  for (const [group, files] of [...readyByGroup(account)].sort(([a], [b]) => b - a)) {
    const { first, last } = leavesOfGroup(group);
    if (files === 0 || first >= full) continue;
    const newer = ranges.at(-1);
    if (newer?.first === last + 1 && newer.last - first < LEAVES_PER_RANGE) {
      ranges[ranges.length - 1] = { first, last: newer.last };
    } else {
      ranges.push({ first, last: Math.min(last, full - 1) });
    }
  }
  return ranges;
}

/** The seqs of the matching files in a range of leaves, newest first. */
async function searchLeaves(
  { listing, seals }: SearchingStores,
  accountId: string,
  leaves: LeafRange,
  part: string,
): Promise<number[]> {
  const [sealed, removed] = await Promise.all([seals.seals(accountId, leaves), seals.removed(accountId, leaves)]);
  const seqs: number[] = [];
  const unsealed: number[] = [];
  for (let leaf = leaves.last; leaf >= leaves.first; leaf--) {
    const seal = sealed.get(leaf);
    if (seal && isReadable(seal)) seqs.push(...searchSeal(leaf, seal, { part, removed: removed.get(leaf) ?? 0n }));
    else unsealed.push(leaf);
  }
  const read = await eachOf(unsealed, CONCURRENCY, (leaf) => searchIndex(listing, accountId, seqsOfLeaf(leaf), part));
  return read.length === 0 ? seqs : [...seqs, ...read.flat()].sort(newestFirst);
}

const newestFirst = (one: number, other: number) => other - one;

/** The seqs of the files of a sealed leaf that match and are not deleted, newest first. */
function searchSeal(leaf: number, seal: Seal, { part, removed }: { part: string; removed: bigint }): number[] {
  const { low } = seqsOfLeaf(leaf);
  const seqs = positionsWith(seal, part).map((position) => low + position);
  return (removed === 0n ? seqs : seqs.filter((seq) => (removed & bitOf(seq)) === 0n)).reverse();
}

async function searchIndex(listing: ListingStore, accountId: string, range: SeqRange, part: string): Promise<number[]> {
  const seqs: number[] = [];
  for await (const files of filesIn(listing, accountId, range)) {
    seqs.push(...files.filter(({ name }) => foldName(name).includes(part)).map(({ seq }) => seq));
  }
  return seqs;
}

/** Reads the files of a range, newest first, as many at a time as one read gives. */
async function* filesIn(listing: ListingStore, accountId: string, range: SeqRange): AsyncGenerator<ListedFile[]> {
  for (let rest: SeqRange | undefined = range; rest; ) {
    const read = await listing.files(accountId, rest);
    yield read.files;
    rest = read.rest;
  }
}

/** The ranges that together contain all these seqs, newest first. */
function rangesAround(seqs: readonly number[]): SeqRange[] {
  const ranges: SeqRange[] = [];
  for (const seq of seqs) {
    const newer = ranges.at(-1);
    if (newer && newer.low - seq <= NEAR_SEQS) ranges[ranges.length - 1] = { low: seq, high: newer.high };
    else ranges.push({ low: seq, high: seq });
  }
  return ranges;
}

/** The files of a page, newest first. Those that no longer match are left out: they were deleted since. */
async function filesOf(
  listing: ListingStore,
  accountId: string,
  { page, part }: { readonly page: readonly number[]; readonly part: string },
): Promise<ListedFile[]> {
  const read = await eachOf(rangesAround(page), CONCURRENCY, (range) =>
    Array.fromAsync(filesIn(listing, accountId, range)),
  );
  return read.flat(2).filter(({ seq, name }) => page.includes(seq) && foldName(name).includes(part));
}
