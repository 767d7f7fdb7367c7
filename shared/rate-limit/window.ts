import { RATE_WINDOW_MS } from '../contract/limits.ts';
import { type RatePolicy, slotSizes } from './policy.ts';

/**
 * The sliding window, and why no 60 seconds have more admissions than the limit N.
 *
 * A row holds S slots in a queue. A slot has a stamp, the time of its last use, and a size, the number of uses it stands for. The sizes add
 * up to N. An admission *uses* the newest slot, if that slot has uses left. Otherwise the admission *opens* the oldest slot, which it may
 * do if the stamp of that slot is 60 s old. The opened slot moves from the front to the end, keeps its size, and gets the current time as
 * its stamp. (For limits up to 120, N = S and every admission opens a slot of size one.)
 *
 * So each slot is used in rounds. A round has at most `size` uses, and the next round begins 60 s after the last use of the round before.
 * So any span of 60 s (its first moment excluded) contains uses from at most one round of each slot. These rounds together have at most N
 * uses, because the sizes add up to N. This proof does not depend on the order of the stamps. Every change is one conditional write.
 *
 * Clocks: each admission is stamped by the clock of one process and compared with the clock of another. Two clocks that differ by d could
 * shorten the 60 s by d. So stamps are rounded up, `now` is rounded down, and {@link TOLERANCE_MS} is added. Lambda's clocks differ less
 * than that: Amazon Time Sync keeps them within about a millisecond. If they differ more, the span is shorter by the excess and no more. A
 * process whose clock is behind cannot set a shared slot to an earlier stamp. The stamps of a process whose clock is ahead make others
 * wait.
 */
export interface Window {
  /** The last use of each slot, from the oldest to the newest, in stamps (see {@link stampOf}). */
  readonly stamps: readonly number[];
  /** The number of uses each slot stands for, in the same order; absent when each stands for one. */
  readonly sizes?: readonly number[];
  /** Uses left in the newest slot. */
  readonly left: number;
}

/** The write that would admit a request; or the time until which no request is admitted, in epoch milliseconds. */
export type Step =
  | { readonly kind: 'create'; readonly window: Window }
  | { readonly kind: 'open' | 'use'; readonly stamp: number; readonly expired: number }
  | { readonly kind: 'reject'; readonly until: number };

/** Stamps count units of 10 ms since 2026: their eleven digits take seven bytes of a row until the year 2057. */
const STAMP_MS = 10;
const STAMP_EPOCH_MS = Date.UTC(2026, 0, 1);
const TOLERANCE_MS = 20;
const WINDOW_STAMPS = (RATE_WINDOW_MS + TOLERANCE_MS) / STAMP_MS;
/** The stamp of a slot that was never used. */
const NEVER = 0;

/**
 * The step to try before the row is known: the one that is right most often. When each admission has its own slot, this step opens a slot.
 * With shared slots, it uses the newest slot.
 */
export function firstStep({ limit, slots }: RatePolicy, now: number): Step {
  return { kind: limit > slots ? 'use' : 'open', stamp: stampOf(now), expired: expiredAt(now) };
}

/** The step to try when the row is `window`, which is undefined if there is no row. */
export function nextStep(policy: RatePolicy, window: Window | undefined, now: number): Step {
  if (!window) return { kind: 'create', window: firstWindow(policy, now) };
  const expired = expiredAt(now);
  const [oldest, newest] = [window.stamps[0] ?? NEVER, window.stamps.at(-1) ?? NEVER];
  const step = { stamp: window.sizes ? Math.max(stampOf(now), newest) : stampOf(now), expired };
  if (window.left > 0 && newest > expired) return { kind: 'use', ...step };
  if (oldest <= expired) return { kind: 'open', ...step };
  return { kind: 'reject', until: freeAt(oldest) };
}

/** How many more requests `window` admits now. */
export function remainingIn({ stamps, sizes, left }: Window, now: number): number {
  const expired = expiredAt(now);
  const live = stamps.findIndex((stamp) => stamp > expired);
  const free = live === -1 ? stamps.length : live;
  // The newest slot is either among the free ones, or in use with some uses left.
  const open = free < stamps.length ? left : 0;
  return open + (sizes ? sizes.slice(0, free).reduce((sum, size) => sum + size, 0) : free);
}

/** When the next of the slots in use is free again, in epoch milliseconds; now, when none is in use. */
export function moreAt({ stamps }: Window, now: number): number {
  const expired = expiredAt(now);
  const live = stamps.find((stamp) => stamp > expired);
  return live === undefined ? now : freeAt(live);
}

/** The row after a subject's first request. */
function firstWindow(policy: RatePolicy, now: number): Window {
  const stamps = [...new Array<number>(policy.slots - 1).fill(NEVER), stampOf(now)];
  if (policy.slots === policy.limit) return { stamps, left: 0 };
  const sizes = slotSizes(policy);
  return { stamps, sizes, left: (sizes.at(-1) ?? 1) - 1 };
}

/** `now` (epoch milliseconds) as a stamp, rounded up. */
function stampOf(now: number): number {
  return Math.ceil((now - STAMP_EPOCH_MS) / STAMP_MS);
}

/** The latest stamp whose slot is free again. */
function expiredAt(now: number): number {
  return Math.floor((now - STAMP_EPOCH_MS) / STAMP_MS) - WINDOW_STAMPS;
}

/** When a slot with this stamp is free again, in epoch milliseconds. */
function freeAt(stamp: number): number {
  return (stamp + WINDOW_STAMPS) * STAMP_MS + STAMP_EPOCH_MS;
}
