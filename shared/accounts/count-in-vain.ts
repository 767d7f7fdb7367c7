import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';
import type { AccountStore } from './account-store.ts';

/**
 * A refused body under this length is not counted: at the usual rate limit of a minute such bodies come to 5 GiB a day, and
 * the usual mistakes of clients cost no write.
 */
const LEAST_BYTES = 64 * 1024;

/**
 * Counts, for the day, bytes that were sent and became no file: those of a refused upload, or of one that had succeeded before
 * under its `Idempotency-Key`. It never fails and never counts twice: when the write fails or its answer is lost, that is
 * logged, and the bytes may be missing from the count.
 */
export async function countInVain(
  accounts: AccountStore,
  accountId: string,
  bytes: number,
  clock: () => number = Date.now,
): Promise<void> {
  if (bytes < LEAST_BYTES) return;
  await briefly(() => accounts.countSent(accountId, bytes, clock())).catch((error) => {
    log('warn', 'bytes sent in vain not counted', { bytes, ...describeError(error) });
  });
}
