import type { Account } from '../accounts/account.ts';
import { FILE_NAME_MAX_BYTES } from '../contract/limits.ts';
import { eachOf } from '../each-of.ts';
import type { FilePage, ListedFile } from './file.ts';
import {
  bitOf,
  LEAF_SEQS,
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
/** If reading the files of a page by their seqs would take more calls than this, they are read by their ids. That takes two calls. */
const CALLS_FOR_PAGE = 4;
/**
 * A search reads the files of leaves without a seal from the index, in ranges. It keeps at most this many of the newest matching files of
 * each range. So it need not read these files again if they are on the page.
 */
const KEPT_FILES = 2 * LEAF_SEQS;

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

/** The matches in a range of leaves. */
interface Matches {
  /** The seqs of all matching files, newest first. */
  readonly seqs: number[];
  /** The matching files that were read from the index, at most {@link KEPT_FILES} for each range that was read. */
  readonly files: readonly ListedFile[];
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
  const found = await eachOf(reads, CONCURRENCY, (read) => read());
  const seqs = found.flatMap((matches) => matches.seqs);
  const known = found.flatMap((matches) => matches.files);
  const page = seqs.slice(offset, offset + limit);
  return { files: await filesOf(stores.listing, account.id, { page, known, part }), total: seqs.length };
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

async function searchLeaves(
  { listing, seals }: SearchingStores,
  accountId: string,
  leaves: LeafRange,
  part: string,
): Promise<Matches> {
  const [sealed, removed] = await Promise.all([seals.seals(accountId, leaves), seals.removed(accountId, leaves)]);
  const seqs: number[] = [];
  const unsealed: SeqRange[] = [];
  for (let leaf = leaves.last; leaf >= leaves.first; leaf--) {
    const seal = sealed.get(leaf);
    if (seal && isReadable(seal)) seqs.push(...searchSeal(leaf, seal, { part, removed: removed.get(leaf) ?? 0n }));
    else addLeaf(unsealed, leaf);
  }
  const read = await eachOf(unsealed, CONCURRENCY, (range) => searchIndex(listing, accountId, range, part));
  const all = read.length === 0 ? seqs : [...seqs, ...read.flatMap((matches) => matches.seqs)].sort(newestFirst);
  return { seqs: all, files: read.flatMap(({ files }) => files) };
}

const newestFirst = (one: number, other: number) => other - one;

/** Adds the seqs of a leaf to a list of ranges. All ranges of the list are above the leaf. */
function addLeaf(ranges: SeqRange[], leaf: number): void {
  const { low, high } = seqsOfLeaf(leaf);
  const newer = ranges.at(-1);
  if (newer?.low === high + 1) ranges[ranges.length - 1] = { low, high: newer.high };
  else ranges.push({ low, high });
}

/** The seqs of the files of a sealed leaf that match and are not deleted, newest first. */
function searchSeal(leaf: number, seal: Seal, { part, removed }: { part: string; removed: bigint }): number[] {
  const { low } = seqsOfLeaf(leaf);
  const seqs = positionsWith(seal, part).map((position) => low + position);
  return (removed === 0n ? seqs : seqs.filter((seq) => (removed & bitOf(seq)) === 0n)).reverse();
}

async function searchIndex(listing: ListingStore, accountId: string, range: SeqRange, part: string): Promise<Matches> {
  const seqs: number[] = [];
  const files: ListedFile[] = [];
  for await (const read of filesIn(listing, accountId, range)) {
    const matching = read.filter(({ name }) => foldName(name).includes(part));
    seqs.push(...matching.map(({ seq }) => seq));
    files.push(...matching.slice(0, KEPT_FILES - files.length));
  }
  return { seqs, files };
}

/** Reads the files of a range, newest first, as many at a time as one read gives. */
async function* filesIn(listing: ListingStore, accountId: string, range: SeqRange): AsyncGenerator<ListedFile[]> {
  for (let rest: SeqRange | undefined = range; rest; ) {
    const read = await listing.files(accountId, rest, { end: 'newest' });
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
  { page, known, part }: { page: readonly number[]; known: readonly ListedFile[]; part: string },
): Promise<ListedFile[]> {
  const bySeq = new Map(known.map((file) => [file.seq, file]));
  const missing = () => page.filter((seq) => !bySeq.has(seq));
  if (rangesAround(missing()).length > CALLS_FOR_PAGE) {
    for (const file of await listing.filesAt(accountId, missing())) bySeq.set(file.seq, file);
  }
  await eachOf(rangesAround(missing()), CONCURRENCY, async (range) => {
    for await (const read of filesIn(listing, accountId, range)) for (const file of read) bySeq.set(file.seq, file);
  });
  return page.flatMap((seq) => {
    const file = bySeq.get(seq);
    return file && foldName(file.name).includes(part) ? file : [];
  });
}
