import { inTime, unlimited } from '../time-limit.ts';

/**
 * Makes a reader that keeps a value for a while after it has read the value. Simultaneous callers share one read. A failed first read is
 * not kept. When a later read fails, the old value is used for another `keepMs`. So the service survives an outage of the dependency.
 * @param keepMs  how long a value is used before it is read again; `Infinity` keeps it for good.
 * @returns the reader. A caller that doubts the value may ask for a value younger than `maxAgeMs`.
 */
export function cached<Value>(
  read: () => Promise<Value>,
  { keepMs, clock = Date.now }: { keepMs: number; clock?: () => number },
): (asked?: { maxAgeMs: number }) => Promise<Value> {
  let kept: { readonly value: Value; readonly readAt: number } | undefined;
  let reading: Promise<Value> | undefined;

  async function renew(): Promise<Value> {
    try {
      kept = { value: await read(), readAt: clock() };
      return kept.value;
    } catch (error) {
      if (!kept) throw error;
      kept = { value: kept.value, readAt: clock() };
      return kept.value;
    } finally {
      reading = undefined;
    }
  }

  return async ({ maxAgeMs } = { maxAgeMs: keepMs }) => {
    if (kept && clock() - kept.readAt < Math.min(keepMs, maxAgeMs)) return kept.value;
    reading ??= unlimited(renew);
    return inTime(reading);
  };
}
