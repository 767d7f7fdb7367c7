import type { Account } from '../accounts/account.ts';
import { eachOf } from '../each-of.ts';
import { FILE_NAME_MAX_BYTES } from '../limits.ts';
import type { FilePage, ListedFile } from './file.ts';
import type { ListingStore } from './file-store.ts';
import { readyByGroup, type SeqRange, seqsOfGroup } from './listing-counters.ts';

/** Reads at once. */
const CONCURRENCY = 8;
/** Groups with few files left are read together, up to about as many files as a full group has. */
const FILES_PER_RANGE = 8_192;

/**
 * A longer text cannot be part of a name: each byte of a name is at most one and a half characters in any of its spellings,
 * and accents that are not composed make them at most four times as many. So a longer text finds nothing, without a read; it
 * is not even folded, because that takes quadratic time for a run of accents.
 */
const SEARCH_MAX_LENGTH = 6 * FILE_NAME_MAX_BYTES;

interface Search {
  readonly search: string;
  readonly offset: number;
  readonly limit: number;
}

/** The result of one read. */
interface Chunk {
  readonly range: SeqRange;
  readonly matches: number;
  /** The matching files, newest first; absent when there are more than a page holds. */
  readonly files?: ListedFile[];
}

/**
 * Finds the files whose name has a part, in upper or lower case. It reads every name, in parallel ranges. Memory stays
 * bounded whatever matches: each read leaves its count and at most a page of matches. A chunk with more matches is read
 * again if the page lies in it; a page lies in at most two of these.
 */
export async function searchFiles(
  listing: ListingStore,
  account: Account,
  { search, offset, limit }: Search,
): Promise<FilePage> {
  if (search.length > SEARCH_MAX_LENGTH) return { files: [], total: 0 };
  const part = foldCase(search);
  const isMatch = ({ name }: ListedFile) => foldCase(name).includes(part);
  const chunksOfRanges = await eachOf(rangesOf(account), CONCURRENCY, async (range) => {
    const chunks: Chunk[] = [];
    for (let rest: SeqRange | undefined = range; rest; ) {
      const read = await listing.files(account.id, rest, { end: 'newest' });
      const files = read.files.filter(isMatch);
      const low = read.rest ? read.rest.high + 1 : rest.low;
      chunks.push({ range: { low, high: rest.high }, matches: files.length, ...(files.length <= limit && { files }) });
      rest = read.rest;
    }
    return chunks;
  });
  const chunks = chunksOfRanges.flat();
  const total = chunks.reduce((sum, { matches }) => sum + matches, 0);
  const reread = async ({ range }: Chunk) => {
    const read = await listing.files(account.id, range, { end: 'newest' });
    return read.files.filter(isMatch);
  };
  return { files: await pageOf(chunks, { offset, limit }, reread), total };
}

async function pageOf(
  chunks: readonly Chunk[],
  { offset, limit }: { offset: number; limit: number },
  reread: (chunk: Chunk) => Promise<ListedFile[]>,
): Promise<ListedFile[]> {
  const page: ListedFile[] = [];
  let skip = offset;
  for (const chunk of chunks) {
    if (page.length === limit) break;
    if (skip >= chunk.matches) {
      skip -= chunk.matches;
      continue;
    }
    const files = chunk.files ?? (await reread(chunk));
    page.push(...files.slice(skip, skip + limit - page.length));
    skip = 0;
  }
  return page;
}

/** All seqs of the account's files in ranges of about equal work, newest first. */
function rangesOf(account: Account): SeqRange[] {
  const ranges: { low: number; high: number; files: number }[] = [];
  for (const [group, files] of [...readyByGroup(account)].sort(([a], [b]) => b - a)) {
    const { low, high } = seqsOfGroup(group);
    const last = ranges.at(-1);
    if (last && last.files + files <= FILES_PER_RANGE) {
      last.low = low;
      last.files += files;
    } else {
      // The first range is open at its newer end, so that files that arrive while we read are found as well.
      ranges.push({ low, high: last ? high : Number.MAX_SAFE_INTEGER, files });
    }
  }
  return ranges;
}

/**
 * Maps all spellings of a text, in upper and lower case and in composed and decomposed characters, to one (Unicode, section
 * 3.13, "canonical caseless matching").
 *
 * JavaScript has no case folding, but lower, upper and lower case again amount to it: the first maps ẞ to ß, the second ß to
 * SS and ﬁ to FI. Only the final sigma is left: lower case is ς at the end of a word, and σ elsewhere.
 */
function foldCase(text: string): string {
  return text.normalize('NFD').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}
