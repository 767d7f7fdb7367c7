import { ApiError, type ErrorFacts } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';
import { type Account, type AccountStore, storageLimitOf } from './account.ts';

/** The limits of every account. The operator can set another storage limit for one account. */
export interface AccountLimits {
  readonly storageLimitBytes: number;
  readonly fileCountLimit: number;
  readonly uploadBytesPerDay: number;
}

/** The part of an account that decides how much the account may store and send. This part can change after it was read. */
type KnownAccount = Pick<Account, 'storageLimitBytes' | 'sent'>;

/** How much one account may store and send, as far as the caller knows. The store checks what has changed since. */
export interface Allowance {
  readonly limits: AccountLimits;
  readonly known: KnownAccount;
}

/** Why a file does not fit: the account has no room for the file's bytes or for another file, or has sent enough for today. */
export type Refusal = 'no room' | 'day used up';

const DAY_MS = 24 * 3_600_000;

/** The UTC day of a moment. @returns days since 1970. */
export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}

/** Bytes that the account has sent today. If a server whose clock is ahead has begun a later day, that day counts as today. */
export function sentTodayBytes({ sent }: Pick<Account, 'sent'>, now: number): number {
  return sent && sent.day >= dayOf(now) ? sent.bytes : 0;
}

/** How many bytes the account may send in a day: at least as many as its own storage limit, if the operator set one. */
export function uploadBytesPerDayOf(account: Pick<Account, 'storageLimitBytes'>, limits: AccountLimits): number {
  return Math.max(limits.uploadBytesPerDay, account.storageLimitBytes ?? 0);
}

/**
 * Why one more file of this size does not fit; undefined when it fits. If the account has already sent more than a day allows, the answer
 * is `day used up`, even if the storage is full too. So a full account cannot go on sending. Otherwise a file that is larger than the whole
 * storage limit gets `no room`, because it would not fit on another day either.
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
 * True when the account has sent so much today that even repeated uploads, with a used `Idempotency-Key`, are refused. A repeated upload
 * stores nothing. So it is answered even when the day is used up, until the account has sent twice the day's bytes.
 */
export function isRepeatingTooMuch(account: Account, limits: AccountLimits, now: number): boolean {
  return sentTodayBytes(account, now) > 2 * uploadBytesPerDayOf(account, limits);
}

/** The numbers that {@link refusalOf} compares. */
export function factsOf(
  account: Account,
  limits: AccountLimits,
  { bytes, now }: { readonly bytes: number; readonly now: number },
): ErrorFacts {
  return {
    bytes,
    used_bytes: account.storageUsedBytes,
    limit_bytes: storageLimitOf(account, limits.storageLimitBytes),
    sent_today_bytes: sentTodayBytes(account, now),
    limit_today_bytes: uploadBytesPerDayOf(account, limits),
    file_count: account.fileCount,
    file_count_limit: limits.fileCountLimit,
  };
}

/** The error of a refusal: 403 `storage_limit_exceeded`, or 429 `rate_limit_exceeded` until the next UTC day begins. */
export function refusalError(refusal: Refusal, now: number, facts: ErrorFacts): ApiError {
  if (refusal === 'no room') {
    return new ApiError('storage_limit_exceeded', { detail: 'no room for the bytes or for another file', facts });
  }
  const seconds = Math.ceil(((dayOf(now) + 1) * DAY_MS - now) / 1_000);
  return new ApiError('rate_limit_exceeded', {
    headers: { 'Retry-After': String(seconds) },
    detail: 'the account has used up its bytes of the day',
    facts,
  });
}

/**
 * A refused body under this length is not counted, so that the usual mistakes of clients cost no write. With the default rate
 * limit such bodies come to at most 5.3 GiB a day.
 */
const LEAST_BYTES = 64 * 1024;

/**
 * Counts, for the day, bytes that were sent but became no file: those of a refused or repeated upload, and the rest of a form. This never
 * fails, and never counts twice. When the write fails or its answer is lost, a line is logged, and the bytes may be missing from the count.
 */
export async function countDiscardedBytes(
  accounts: AccountStore,
  accountId: string,
  bytes: number,
  clock: () => number = Date.now,
): Promise<void> {
  if (bytes < LEAST_BYTES) return;
  await briefly(() => accounts.countSent(accountId, bytes, clock())).catch((error) => {
    log('warn', 'discarded bytes not counted', { bytes, ...describeError(error) });
  });
}
