import { setTimeout as sleep } from 'node:timers/promises';

const DAY_MS = 24 * 3_600_000;

/** How long it is until midnight (UTC). */
export const untilMidnightMs = () => DAY_MS - (Date.now() % DAY_MS);

/** Waits for midnight (UTC), when the bytes of a day start again at zero, if it is nearer than that. */
export async function keepFromMidnight(ms: number): Promise<void> {
  if (untilMidnightMs() < ms) await sleep(untilMidnightMs());
}
