import type { Account } from '../accounts/account.ts';
import { eachOf } from '../each-of.ts';
import { FILE_NAME_MAX_BYTES } from '../limits.ts';
import type { FilePage, ListedFile } from './file.ts';
import type { ListingStore } from './file-store.ts';
import { type SeqRange, seqsOfGroup } from './listing-counters.ts';

/**
 * A text in a form that is the same for all its spellings in upper and lower case and in composed and decomposed
 * characters (Unicode, section 3.13, "canonical caseless matching").
 *
 * JavaScript has no case folding, but lower, upper and lower again amounts to it: the first brings ẞ to ß, the second ß to
 * SS and ﬁ to FI. What is left is the final sigma, which lower-casing writes as ς at the end of a word only.
 */
function foldCase(text: string): string {
  return text.normalize('NFD').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

/** Reads at once. */
const CONCURRENCY = 8;
/** Groups with few files left are read together, up to about as many files as a full group has. */
const FILES_PER_RANGE = 8_192;

/**
 * No text that is longer is a part of a name: a byte of a name has at most one and a half characters in any of its
 * spellings, and accents that are not composed make them at most four times as many. Such a text takes no reads, and is not
 * folded, which takes quadratic time for a run of accents.
 */
const SEARCH_MAX_LENGTH = 6 * FILE_NAME_MAX_BYTES;

interface Search {
  readonly search: string;
  readonly offset: number;
  readonly limit: number;
}

/** What one read found. */
interface Chunk {
  readonly range: SeqRange;
  readonly matches: number;
  /** The matching files, newest first; absent when they are more than a page holds. */
  readonly files?: ListedFile[];
}

/**
 * The files whose name has a part, whatever its case. Every name is read, in parallel ranges. Memory stays bounded
 * whatever matches: of each read only its count is kept and, up to a page's worth, its matches; a chunk with more is read
 * again if the page lies in it, and a page can lie in two of those at most.
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
function rangesOf({ groups }: Account): SeqRange[] {
  const ranges: { low: number; high: number; files: number }[] = [];
  for (const [group, files] of [...groups].sort(([a], [b]) => b - a)) {
    const { low, high } = seqsOfGroup(group);
    const last = ranges.at(-1);
    if (last && last.files + files <= FILES_PER_RANGE) {
      last.low = low;
      last.files += files;
    } else {
      // The first range is open at its newer end: files that come while we read are found as well.
      ranges.push({ low, high: last ? high : Number.MAX_SAFE_INTEGER, files });
    }
  }
  return ranges;
}
