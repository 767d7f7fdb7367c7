import type { RateClass } from '../contract/route.ts';

/**
 * How many requests are admitted in any span of {@link RATE_WINDOW_MS}, and in how many slots a row counts them. A slot has one time stamp
 * (see `Window`), and stands for about `limit / slots` admissions.
 */
export interface RatePolicy {
  readonly limit: number;
  readonly slots: number;
}

/** Up to this limit each admission has its own slot: a row of 120 stamps fits into 1 KB, one write unit. */
const OWN_SLOT_MAX = 120;
/**
 * The number of slots that admissions share above {@link OWN_SLOT_MAX}. Such a row stays within one write unit, too. A slot is free again
 * 60 s after its last use, so its earlier uses count for longer than 60 s. That is why a client that never pauses gets only 98 % of its
 * limit. A client that was idle may use its whole limit immediately.
 */
const SHARED_SLOTS = 72;

/** The policy of a limit. It decides the shape of the rows: when you change the constants above, change {@link rateKey} as well. */
export function ratePolicy(limit: number): RatePolicy {
  return { limit, slots: limit <= OWN_SLOT_MAX ? limit : SHARED_SLOTS };
}

/** How many admissions each slot stands for: whole numbers that add up to the limit. */
export function slotSizes({ limit, slots }: RatePolicy): number[] {
  const size = Math.floor(limit / slots);
  return Array.from({ length: slots }, (_, slot) => (slot < limit % slots ? size + 1 : size));
}

/** The key of a row: class, limit and subject. A changed limit starts a new row. */
export function rateKey(rateClass: RateClass, limit: number, subject: string): string {
  return `${rateClass}#${limit}#${subject}`;
}
