import type { LimitName } from '../limits.ts';
import type { RateClass } from '../routes.ts';

/** The configurable limit that says how many requests of a class a minute may bring. */
export const RATE_LIMIT_OF_CLASS = {
  uploads: 'RATE_LIMIT_UPLOADS_PER_MINUTE',
  lists: 'RATE_LIMIT_LISTS_PER_MINUTE',
  requests: 'RATE_LIMIT_REQUESTS_PER_MINUTE',
  'login-starts': 'RATE_LIMIT_LOGIN_STARTS_PER_MINUTE',
  // A login that was let start may come back: had they one window, a login would cost two.
  'login-callbacks': 'RATE_LIMIT_LOGIN_STARTS_PER_MINUTE',
} as const satisfies Record<RateClass, LimitName>;

/**
 * How many admissions a span of {@link RATE_WINDOW_MS} may hold, and how many stamps a row keeps to know. A slot
 * is one stamp; it stands for `limit / slots` admissions.
 */
export interface RatePolicy {
  readonly limit: number;
  readonly slots: number;
}

/**
 * Up to this limit each admission has a slot of its own: a row of 500 stamps has 3.5 KB. Above, a row would become dear
 * and finally not fit (400 KB), so …
 */
const OWN_SLOT_MAX = 500;
/**
 * … admissions share slots. A row of this many stays within 1 KB, one write unit. A slot is free again 60 s after its
 * last use, so a client that never pauses gets 72/73 of its limit; one that was idle gets all of it at once.
 */
const SHARED_SLOTS = 72;

/** The policy of a limit. Rows are made by it: change the constants above and the rows' key together. */
export function ratePolicy(limit: number): RatePolicy {
  return { limit, slots: limit <= OWN_SLOT_MAX ? limit : SHARED_SLOTS };
}

/** How many admissions each slot stands for: whole numbers that add up to the limit, whatever it is. */
export function slotSizes({ limit, slots }: RatePolicy): number[] {
  const size = Math.floor(limit / slots);
  return Array.from({ length: slots }, (_, slot) => (slot < limit % slots ? size + 1 : size));
}

/** The key of a row: who is counted, for what, against which limit (a changed limit starts afresh). */
export function rateKey(rateClass: RateClass, limit: number, subject: string): string {
  return `${rateClass}#${limit}#${subject}`;
}
