import type { Account, AccountStore } from '../accounts/account.ts';
import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';

/**
 * Finds a page by its offset, without reading the files before it. Every file has a `seq`, its place in the account's listing: 0 for the
 * account's first file, and one more for each further file. 64 consecutive seqs are a leaf, 128 leaves are a group. Only deleted files are
 * counted: those of a leaf by a bitmap in a row of the leaf, those of a group in the account's row. The transactions that delete files
 * update these counts. All other seqs below the account's next seq belong to ready files. So a page takes three reads: the account, the
 * leaves of one group (at most 128), and the files. The first page needs no leaves. The seqs of deleted files stay unused; nothing is ever
 * split or moved.
 */

export const LEAF_SEQS = 64;
const LEAVES_PER_GROUP = 128;
const GROUP_SEQS = LEAF_SEQS * LEAVES_PER_GROUP;

/** Both inclusive. */
export interface SeqRange {
  readonly low: number;
  readonly high: number;
}

/** Both inclusive. */
export interface LeafRange {
  readonly first: number;
  readonly last: number;
}

// Divisions rather than shifts: a shift would cut a seq to 32 bits.
export const leafOf = (seq: number): number => Math.floor(seq / LEAF_SEQS);
export const groupOf = (seq: number): number => Math.floor(seq / GROUP_SEQS);

export function seqsOfLeaf(leaf: number): SeqRange {
  return { low: leaf * LEAF_SEQS, high: (leaf + 1) * LEAF_SEQS - 1 };
}

export function seqsOfGroup(group: number): SeqRange {
  return { low: group * GROUP_SEQS, high: (group + 1) * GROUP_SEQS - 1 };
}

/** The place of a seq within its leaf, from 0 to 63. */
export const positionOf = (seq: number): number => seq % LEAF_SEQS;

/** True for the last seq of a leaf. The file that gets this seq makes the leaf full. */
export const isLastOfLeaf = (seq: number): boolean => positionOf(seq) === LEAF_SEQS - 1;

/** The bit of a seq in the bitmap of its leaf. */
export const bitOf = (seq: number): bigint => 1n << BigInt(positionOf(seq));

export function leavesOfGroup(group: number): LeafRange {
  return { first: group * LEAVES_PER_GROUP, last: (group + 1) * LEAVES_PER_GROUP - 1 };
}

/**
 * Finds the group or leaf that holds the file at an offset from the newest.
 * @param counts  the number of files by group or by leaf.
 * @returns its index, and the offset within it from its newest file; undefined beyond the last file.
 */
export function findOffset(
  counts: ReadonlyMap<number, number>,
  offset: number,
): { index: number; offset: number } | undefined {
  let rest = offset;
  for (const [index, count] of [...counts].sort(([a], [b]) => b - a)) {
    if (rest < count) return { index, offset: rest };
    rest -= count;
  }
  return undefined;
}

/** How many of the `size` seqs from `low` on are given out. */
const given = (nextSeq: number, low: number, size: number) => Math.min(size, Math.max(0, nextSeq - low));

/** The bitmap of all seqs of a leaf that are given out. */
export const givenBits = (nextSeq: number, leaf: number): bigint =>
  (1n << BigInt(given(nextSeq, leaf * LEAF_SEQS, LEAF_SEQS))) - 1n;

/**
 * The number of removed files of each group that has any.
 * @param removed  the map in the account's row. An entry is the number of deleted files of its group. If this number is n times the size of
 *   a group, the entry stands for n adjacent groups, beginning with its own. All their files are deleted.
 */
export function removedByGroup(removed: ReadonlyMap<number, number>): Map<number, number> {
  const byGroup = new Map<number, number>();
  for (const [first, count] of removed) {
    const groups = Number.isInteger(count / GROUP_SEQS) ? count / GROUP_SEQS : 1;
    for (let index = 0; index < groups; index++) byGroup.set(first + index, count / groups);
  }
  return byGroup;
}

/** The number of ready files of each group. */
export function readyByGroup({ nextSeq, removed }: Pick<Account, 'nextSeq' | 'removed'>): Map<number, number> {
  const ready = new Map<number, number>();
  const byGroup = removedByGroup(removed);
  for (let group = 0; group * GROUP_SEQS < nextSeq; group++) {
    ready.set(group, given(nextSeq, group * GROUP_SEQS, GROUP_SEQS) - (byGroup.get(group) ?? 0));
  }
  return ready;
}

/** The number of ready files of each leaf of a group. @param removed  the bitmaps of leaves; those of other leaves do not matter. */
export function readyByLeaf(nextSeq: number, group: number, removed: ReadonlyMap<number, bigint>): Map<number, number> {
  const ready = new Map<number, number>();
  const { first, last } = leavesOfGroup(group);
  for (let leaf = first; leaf <= last && leaf * LEAF_SEQS < nextSeq; leaf++) {
    // A file that was added and deleted since `nextSeq` was read does not count.
    ready.set(leaf, countBits(givenBits(nextSeq, leaf) & ~(removed.get(leaf) ?? 0n)));
  }
  return ready;
}

export function countBits(bits: bigint): number {
  return bits.toString(2).replaceAll('0', '').length;
}

/**
 * Merges the entries of adjacent groups whose files are all deleted. Without this, the account's row would grow with the number of files
 * that the account has ever had. The entries are merged only when `seq`, the place of a new file, is the first of its group: once in 8,192
 * uploads. If this fails or we die before it, the first upload of the next group merges the entries.
 */
export async function tidyGroups(accounts: AccountStore, accountId: string, seq: number): Promise<void> {
  if (seq % GROUP_SEQS !== 0 || seq === 0) return;
  try {
    await briefly(async () => {
      const account = await accounts.get(accountId);
      for (const run of mergeableRuns(account?.removed ?? new Map())) await accounts.mergeRemoved(accountId, run);
    });
  } catch (error) {
    log('warn', 'listing groups not merged; the next group merges them', { accountId, ...describeError(error) });
  }
}

type Entry = readonly [group: number, removed: number];

/** The entries of `removed` that can be merged, each run of adjacent ones in order. */
function mergeableRuns(removed: ReadonlyMap<number, number>): Entry[][] {
  const runs: Entry[][] = [];
  for (const [group, count] of [...removed].sort(([a], [b]) => a - b)) {
    if (count < GROUP_SEQS) continue;
    const [lastGroup, lastCount] = runs.at(-1)?.at(-1) ?? [Number.NaN, 0];
    if (group === lastGroup + lastCount / GROUP_SEQS) runs.at(-1)?.push([group, count]);
    else runs.push([[group, count]]);
  }
  return runs.filter(({ length }) => length > 1);
}
