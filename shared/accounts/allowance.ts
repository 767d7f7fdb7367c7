import { ApiError } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';
import { type Account, type AccountStore, storageLimitOf } from './account.ts';

/** How much every account may take, unless the operator made an exception for it. */
export interface AccountLimits {
  readonly storageLimitBytes: number;
  readonly fileCountLimit: number;
  readonly uploadBytesPerDay: number;
}

/** What else decides how much an account may take: both parts can change after they were read. */
type KnownAccount = Pick<Account, 'storageLimitBytes' | 'sent'>;

/** How much one account may take, as far as the caller knows; the store finds out what has changed since. */
export interface Allowance {
  readonly limits: AccountLimits;
  readonly known: KnownAccount;
}

/** Why something does not fit: the account has no room for its bytes or its file, or has sent enough for today. */
export type Refusal = 'no room' | 'day used up';

const DAY_MS = 24 * 3_600_000;

/** The UTC day of a moment. @returns days since 1970. */
export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}

/** Bytes the account has sent today. A day that a clock ahead of ours has begun is today, too. */
export function sentTodayBytes({ sent }: Pick<Account, 'sent'>, now: number): number {
  return sent && sent.day >= dayOf(now) ? sent.bytes : 0;
}

/** How many bytes the account may send in a day: always enough to fill the storage that the operator gave it. */
export function uploadBytesPerDayOf(account: Pick<Account, 'storageLimitBytes'>, limits: AccountLimits): number {
  return Math.max(limits.uploadBytesPerDay, account.storageLimitBytes ?? 0);
}

/**
 * Why one more file of so many bytes does not fit, as things stand; undefined when it does. A used-up day comes first: an
 * account that is full must not be let send without end. Until then, a file that is larger than all of the account's storage
 * has no room, whatever is left of the day.
 */
export function refusalOf(
  account: Account,
  limits: AccountLimits,
  { bytes, now }: { readonly bytes: number; readonly now: number },
): Refusal | undefined {
  const storageBytes = storageLimitOf(account, limits.storageLimitBytes);
  const leftOfDay = uploadBytesPerDayOf(account, limits) - sentTodayBytes(account, now);
  if (leftOfDay < 0) return 'day used up';
  if (bytes > storageBytes) return 'no room';
  if (bytes > leftOfDay) return 'day used up';
  const hasRoom = account.storageUsedBytes + bytes <= storageBytes;
  return hasRoom && account.fileCount < limits.fileCountLimit ? undefined : 'no room';
}

/**
 * True when the account has sent so much today that even uploads which are only repeated under their `Idempotency-Key` are
 * refused: a repeated one stores nothing and is answered on a day that is used up, but not without end.
 */
export function isRepeatingTooMuch(account: Account, limits: AccountLimits, now: number): boolean {
  return sentTodayBytes(account, now) > 2 * uploadBytesPerDayOf(account, limits);
}

/** What a client is told: 403 `storage_limit_exceeded`, or 429 `rate_limit_exceeded` until the next UTC day begins. */
export function refusalError(refusal: Refusal, now: number): ApiError {
  if (refusal === 'no room') return new ApiError('storage_limit_exceeded');
  const seconds = Math.ceil(((dayOf(now) + 1) * DAY_MS - now) / 1_000);
  return new ApiError('rate_limit_exceeded', {
    headers: { 'Retry-After': String(seconds) },
    detail: 'the account has sent as many bytes today as it may',
  });
}

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
