import type { Account } from '../accounts/account.ts';
import { FILE_NAME_MAX_BYTES } from '../contract/limits.ts';
import { eachOf } from '../each-of.ts';
import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';
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
 * At most this many leaves are made due by one search. After AWS has brought a newer Unicode, the seals of an account may all be unreadable
 * at once. Then its searches, which the rate limit counts, have them written anew a few at a time, and an account that nobody searches costs
 * nothing.
 */
const SEALED_AGAIN_PER_SEARCH = 4;

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
 * parallel ranges, and the leaves without a readable seal from the index. Usually only the newest leaf has no seal. Then it reads the files
 * of the page, and has a few of the missing seals written.
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
    async () => ({ seqs: await searchIndex(stores.listing, account.id, newest, part), unsealed: [] }),
    ...rangesOf(account).map((leaves) => () => searchLeaves(stores, account.id, leaves, part)),
  ];
  const found = await eachOf(reads, CONCURRENCY, (read) => read());
  const seqs = found.flatMap((range) => range.seqs);
  const page = seqs.slice(offset, offset + limit);
  const [files] = await Promise.all([
    filesOf(stores.listing, account.id, { page, part }),
    sealAgain(
      stores.seals,
      account.id,
      found.flatMap((range) => range.unsealed),
    ),
  ]);
  return { files, total: seqs.length };
}

/**
 * Has the sweeper write the seals of a few leaves. If this fails, or we die before it, a later search does it. A seal may be written in vain:
 * - when it was written in the last second, and we have not seen it yet;
 * - while functions have different versions of Unicode, because AWS renews them one after another. Then the sweeper writes a seal that
 *   searches still cannot read, at most once a minute for a leaf.
 */
async function sealAgain(seals: SealStore, accountId: string, leaves: readonly number[]): Promise<void> {
  if (leaves.length === 0) return;
  await briefly(() => seals.sealAgain(accountId, leaves.slice(0, SEALED_AGAIN_PER_SEARCH), Date.now())).catch((error) =>
    log('warn', 'seals not made due; a later search does it', describeError(error)),
  );
}

/** What was found in a range. */
interface Found {
  /** The seqs of the matching files, newest first. */
  readonly seqs: readonly number[];
  /** The full leaves whose seals could not be read, and that are not due to be sealed. */
  readonly unsealed: readonly number[];
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
): Promise<Found> {
  const [sealed, states] = await Promise.all([seals.seals(accountId, leaves), seals.states(accountId, leaves)]);
  const seqs: number[] = [];
  const unsealed: number[] = [];
  for (let leaf = leaves.last; leaf >= leaves.first; leaf--) {
    const seal = sealed.get(leaf);
    if (seal && isReadable(seal))
      seqs.push(...searchSeal(leaf, seal, { part, removed: states.get(leaf)?.removed ?? 0n }));
    else unsealed.push(leaf);
  }
  const read = await eachOf(unsealed, CONCURRENCY, (leaf) => searchIndex(listing, accountId, seqsOfLeaf(leaf), part));
  return {
    seqs: read.length === 0 ? seqs : [...seqs, ...read.flat()].sort(newestFirst),
    unsealed: unsealed.filter((leaf) => !states.get(leaf)?.isDue),
  };
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
