import type { AccountStore } from '../accounts/account.ts';
import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';

/**
 * How a page is found by its offset without reading the files before it. Every file has a `seq`, its place in the account's
 * listing. 64 consecutive seqs are a leaf, 128 leaves are a group. The files of a leaf are counted in a row of their own, the
 * files of a group in the account's row; the transactions that make and delete files keep these counts. So a page takes
 * three reads: the account, the (at most 128) leaves of one group, the files; the first page needs no
 * leaves. The seqs of deleted files stay unused; nothing is ever split or moved.
 */

const LEAF_SEQS = 64;
const LEAVES_PER_GROUP = 128;
const GROUP_SEQS = LEAF_SEQS * LEAVES_PER_GROUP;

/** Both inclusive. */
export interface SeqRange {
  readonly low: number;
  readonly high: number;
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

/** The bit of a seq in the bitmap of its leaf. */
export const bitOf = (seq: number): bigint => 1n << BigInt(seq % LEAF_SEQS);

/** First and last leaf of a group. */
export function leavesOfGroup(group: number): { first: number; last: number } {
  return { first: group * LEAVES_PER_GROUP, last: (group + 1) * LEAVES_PER_GROUP - 1 };
}

/**
 * Finds the group or leaf that holds the file at an offset from the newest.
 * @param counts  the number of files by group or by leaf.
 * @returns its index, the offset within it from its newest file, and its count; undefined beyond the last file.
 */
export function findOffset(
  counts: ReadonlyMap<number, number>,
  offset: number,
): { index: number; offset: number; count: number } | undefined {
  let rest = offset;
  for (const [index, count] of [...counts].sort(([a], [b]) => b - a)) {
    if (rest < count) return { index, offset: rest, count };
    rest -= count;
  }
  return undefined;
}

/**
 * Drops the groups without files from the account's row, so that the row does not grow with every file the account ever had.
 * Does so only when `seq`, the place of a new file, is the first of its group: once in 8,192 uploads. If it fails or we die
 * before it, the next group does it.
 */
export async function tidyGroups(accounts: AccountStore, accountId: string, seq: number): Promise<void> {
  if (seq % GROUP_SEQS !== 0) return;
  try {
    await briefly(async () => {
      const account = await accounts.get(accountId);
      const empty = [...(account?.groups ?? [])].flatMap(([group, count]) => (count === 0 ? group : []));
      if (empty.length > 0) await accounts.dropEmptyGroups(accountId, empty);
    });
  } catch (error) {
    log('warn', 'empty listing groups not dropped; the next group drops them', { accountId, ...describeError(error) });
  }
}
