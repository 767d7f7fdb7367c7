import { SHARDS, type Sweeper } from '../contract/limits.ts';
import { toBase62 } from '../ids.ts';
import { UPLOADS_PREFIX } from './object-key.ts';

export const ALL_SHARDS: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard);

/** The shard of an account's rows. The ids of accounts are hashes, so their last digits spread the accounts evenly. */
export function shardOf(accountId: string): number {
  return Number.parseInt(accountId.slice(-2), 16) % SHARDS;
}

/** The shards of a sweeper. Each shard has exactly one sweeper, for any number of sweepers. */
export function shardsOf({ sweeper, sweepers }: Sweeper): number[] {
  return ALL_SHARDS.filter((shard) => shard % sweepers === sweeper);
}

/** A range of the keys in the bucket: those after `after`, up to and including `to`. A bound that is absent is that of the bucket. */
interface KeyRange {
  readonly after?: string;
  readonly to?: string;
}

/**
 * The range of a shard. All ranges have equally many keys of files, because these keys are random. The first range also has all keys that
 * are before those of files, such as those of direct uploads that have not ended; there are few of these at a time.
 */
export function rangeOf(shard: number): KeyRange {
  return {
    ...(shard > 0 && { after: boundBefore(shard) }),
    ...(shard < SHARDS - 1 && { to: boundBefore(shard + 1) }),
  };
}

/** Two characters, in the order in which S3 lists keys, are enough to tell the ranges apart. */
const boundBefore = (shard: number) => UPLOADS_PREFIX + toBase62(Math.round((shard * 62 ** 2) / SHARDS), 2);
