import type { AccountStore } from '../accounts/account.ts';
import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';

/**
 * How a page is found by its offset without reading what is skipped (design, section 5). Every file has a `seq`; 64 in a
 * row share a leaf, 8,192 share a group. A leaf's files are counted in an item of its own, a group's in the account's
 * item, all in the transactions that make and delete files. So: account → leaves of one group (128 at most) → files.
 * Files that are gone leave their seqs unused; nothing is ever split or moved.
 */

const LEAF_SEQS = 64;
const LEAVES_PER_GROUP = 128;
const GROUP_SEQS = LEAF_SEQS * LEAVES_PER_GROUP;

/** Both inclusive. */
export interface SeqRange {
  readonly low: number;
  readonly high: number;
}

// Divisions, not shifts: a shift would cut a seq to 32 bits.
export const leafOf = (seq: number): number => Math.floor(seq / LEAF_SEQS);
export const groupOf = (seq: number): number => Math.floor(seq / GROUP_SEQS);

export function seqsOfLeaf(leaf: number): SeqRange {
  return { low: leaf * LEAF_SEQS, high: (leaf + 1) * LEAF_SEQS - 1 };
}

export function seqsOfGroup(group: number): SeqRange {
  return { low: group * GROUP_SEQS, high: (group + 1) * GROUP_SEQS - 1 };
}

/** First and last leaf of a group. */
export function leavesOfGroup(group: number): { first: number; last: number } {
  return { first: group * LEAVES_PER_GROUP, last: (group + 1) * LEAVES_PER_GROUP - 1 };
}

/** True once in 8,192 uploads of an account. */
export const startsGroup = (seq: number): boolean => seq % GROUP_SEQS === 0;

/**
 * Where the file at an offset from the newest lies.
 * @param counts  files by group or by leaf.
 * @returns the group or leaf, and the offset within it from its newest; undefined beyond the last file.
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
 * Forgets the listing groups of an account whose files are all gone, so that its row does not grow with every file it ever
 * had. Called once in 8,192 uploads; if it fails or we die before, the next time does it.
 */
export async function tidyGroups(accounts: AccountStore, accountId: string): Promise<void> {
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
