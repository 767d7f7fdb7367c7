import { setTimeout as sleep } from 'node:timers/promises';
import { type AccountStore, getAccount } from '../accounts/account.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { briefly, checkDeadline, type Deadline, inTime, WORK_AFTER_DEADLINE_MS } from '../time-limit.ts';
import { contentDisposition } from './content-disposition.ts';
import type { FileRef, StoredFile, Ticket } from './file.ts';
import { findRow, findTicket } from './file-record.ts';
import { tidyGroups } from './listing-counters.ts';
import { fileOfIncomingKey, incomingKey, newObjectKey } from './object-key.ts';
import type { ObjectStore } from './object-store.ts';
import { copyMs } from './parts.ts';
import type { FileStore, ReleaseStore, SettlementStore, TicketStore } from './stores.ts';

interface CompletingStores {
  readonly accounts: AccountStore;
  readonly files: FileStore;
  readonly objects: ObjectStore;
  readonly releases: ReleaseStore;
  readonly settlements: SettlementStore;
  readonly tickets: TicketStore;
}

/** The time from the deadline of an attempt to the end of its lease. The attempt may go on for a part of this time. */
const LEASE_MARGIN_MS = WORK_AFTER_DEADLINE_MS + 1_000;
/**
 * How long a lease lasts at most, in addition to {@link SLOW_COPY} times the time that the copy should take. An attempt for a client ends
 * before its lease does. An attempt for the bucket's event may work for two minutes, which is longer than its lease. If this attempt dies,
 * the other attempts wait only until the lease ends.
 */
const LEASE_MAX_MS = 30_000;
const SLOW_COPY = 6;
/** The time that an attempt needs, without the time of its copy. */
const PATIENCE_MS = 3_000;
const FIRST_WAIT_MS = 150;
const LONGEST_WAIT_MS = 2_000;
/**
 * How many times we may lose the lease on a pending ticket to another attempt. The other attempt took the lease before us, or took it from
 * us while we copied. A wait for the end of another attempt's lease does not count.
 */
const TRIES = 3;

interface Completing extends Deadline {
  readonly fileCountLimit: number;
  /** How long to wait for another attempt, in milliseconds. Default: as long as an attempt should take. */
  readonly patienceMs?: number;
}

/**
 * Makes a file of a direct upload whose bytes have arrived. Calls may be repeated, run at the same time, and run while the ticket is being
 * cancelled. Usually there are two attempts at the same time: for the client, and for the event of the bucket. One attempt at a time copies
 * the bytes, under a lease on the ticket. The other attempts wait for its file. When an attempt fails, the ticket stays pending. So the
 * next attempt can succeed until the ticket ends. There is one exception: if the account has the maximum number of files, the ticket
 * becomes `refused`.
 *
 * Each attempt copies to an object key of its own, and writes this key to the row of the ticket first. So the sweeper finds the
 * copies of attempts that died, or that finished after their lease had ended; no link leads to such copies. The bytes that arrived
 * stay in `incoming/` until the ticket ends (see `file.ts`).
 * @returns the file, even if it was ready already.
 * @throws ApiError `not_found`; `upload_incomplete`; `unauthorized` when the account is suspended or gone; `timeout`;
 *   `service_unavailable`, for example when another attempt takes too long;
 *   `storage_limit_exceeded` when the account has the maximum number of files. Then the ticket is `refused`, and every later call throws
 *   this error, until the ticket ends.
 */
export async function completeUpload(
  stores: CompletingStores,
  ref: FileRef,
  completing: Completing,
  clock: () => number = Date.now,
): Promise<StoredFile> {
  const { deadlineAt, patienceMs } = completing;
  let waitedMs = 0;
  for (let tries = 0; tries < TRIES; ) {
    checkDeadline(completing);
    const ticket = await findTicket(stores, ref);
    if (ticket?.state !== 'pending') return fileOf(stores, ref, ticket, completing);
    if (ticket.attemptUntil !== undefined && ticket.attemptUntil > clock()) {
      const leftMs = (patienceMs ?? PATIENCE_MS + copyMs(ticket.sizeBytes)) - waitedMs;
      waitedMs += await waitForOther(waitedMs, { leftMs, deadlineAt });
    } else {
      const file = await attempt(stores, ticket, completing, clock);
      if (file) return file;
      tries += 1;
    }
  }
  throw serviceUnavailable({ detail: 'the ticket changed each time' });
}

/** The file that was made of a ticket. The sweeper may have removed the row of the ticket already. @throws as {@link completeUpload}. */
async function fileOf(
  stores: CompletingStores,
  ref: FileRef,
  ticket: Ticket | undefined,
  { fileCountLimit }: Completing,
): Promise<StoredFile> {
  // An earlier attempt, for the client or for the event of the bucket, found no room.
  if (ticket?.state === 'refused') throw noRoomForFile({ fileCountLimit });
  const row = !ticket || ticket.state === 'settled' ? await findRow(stores, ref) : undefined;
  if (row?.state === 'ready' && row.via === 'ticket') return row;
  const detail = ticket ? `the ticket is ${ticket.state}, and there is no file` : 'the account has no such ticket';
  throw new ApiError('not_found', { detail });
}

/** Waits longer each time, with jitter, so that two waiting attempts try at different times. @returns the wait, in milliseconds. */
async function waitForOther(
  waitedMs: number,
  { leftMs, deadlineAt }: { leftMs: number; deadlineAt: number },
): Promise<number> {
  const jitteredMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS + waitedMs) * (0.5 + Math.random());
  const waitMs = Math.min(jitteredMs, leftMs);
  if (waitMs <= 0 || Date.now() + waitMs >= deadlineAt) {
    throw serviceUnavailable({ detail: 'another attempt is at work', retryAfterSeconds: 2 });
  }
  await inTime(sleep(waitMs));
  return waitMs;
}

/**
 * Copies the bytes under a lease and settles the ticket.
 * @returns undefined when another attempt holds the lease, or the ticket has changed. The row of the ticket says which.
 */
async function attempt(
  stores: CompletingStores,
  ticket: Ticket,
  { deadlineAt, fileCountLimit }: Completing,
  clock: () => number,
): Promise<StoredFile | undefined> {
  // S3 takes a PUT only with the signed length. So an object of another size did not come by the URL of this ticket.
  const arrivedBytes = await stores.objects.size(incomingKey(ticket));
  if (arrivedBytes !== ticket.sizeBytes) {
    const detail = arrivedBytes === undefined ? 'no PUT has succeeded yet' : 'an object of another size is there';
    const facts = { bytes: arrivedBytes ?? 0, expected_bytes: ticket.sizeBytes };
    throw new ApiError('upload_incomplete', { detail, facts });
  }
  const objectKey = newObjectKey();
  const leaseEndsAt = clock() + LEASE_MAX_MS + SLOW_COPY * copyMs(ticket.sizeBytes);
  const lease = { objectKey, until: Math.min(deadlineAt + LEASE_MARGIN_MS, leaseEndsAt) };
  let outcome: Awaited<ReturnType<SettlementStore['settleTicket']>> | undefined;
  try {
    // This call is inside the `try`, because we may hold the lease even when the call fails.
    if ((await stores.tickets.beginAttempt(ticket, lease, clock())) !== 'begun') return undefined;
    const { accountId, id, name, mimeType, sizeBytes } = ticket;
    const description = { owner: { accountId, id }, mimeType, contentDisposition: contentDisposition(name, mimeType) };
    const [isCopied, known] = await Promise.all([
      stores.objects.copy({ from: incomingKey(ticket), to: objectKey, sizeBytes }, description),
      getAccount(stores.accounts, accountId),
    ]);
    if (isCopied) {
      const file = { accountId, id, name, mimeType, sizeBytes, objectKey };
      const settlement = { ticket, file, known, now: clock(), fileCountLimit };
      outcome = await stores.settlements.settleTicket(settlement, { deadlineAt });
      if (typeof outcome === 'object') {
        await tidyGroups(stores.accounts, accountId, outcome.seq);
        return outcome.file;
      }
    }
  } catch (error) {
    const settled = await endAttempt(stores, ticket, objectKey);
    if (settled) return settled;
    throw error;
  }
  const settled = await endAttempt(stores, ticket, objectKey);
  if (settled || outcome !== 'no room') return settled;
  // The bytes stay in `incoming/`, so that S3 refuses further PUTs. If we die before this write, the next attempt refuses the ticket, or
  // the sweeper ends the ticket. Meanwhile another attempt may have made the file, or a repeated request may have renewed the ticket.
  if ((await stores.releases.releaseTicket(ticket, 'refused', { deadlineAt })) === 'changed') return undefined;
  throw noRoomForFile({ fileCountLimit });
}

const noRoomForFile = ({ fileCountLimit }: Pick<Completing, 'fileCountLimit'>) =>
  new ApiError('storage_limit_exceeded', {
    detail: 'the account has the maximum number of files',
    facts: { file_count_limit: fileCountLimit },
  });

/**
 * Gives the lease back, so that the next attempt need not wait for its end. Then removes the copy. If either step fails or we die, the
 * lease ends by itself, and the sweeper removes the copy when the ticket ends.
 * @returns the file if the attempt has made it after all: the answer of its transaction was lost, or an earlier try of the transaction
 *   arrived late.
 */
async function endAttempt(stores: CompletingStores, ref: FileRef, objectKey: string): Promise<StoredFile | undefined> {
  try {
    if ((await stores.tickets.endAttempt(ref, objectKey)) === 'settled') {
      const row = await stores.files.get(ref);
      return row?.state === 'ready' ? row : undefined;
    }
    await briefly(() => stores.objects.remove(objectKey));
  } catch (error) {
    log('warn', 'attempt not tidied up; left to the sweeper', { fileId: ref.id, ...describeError(error) });
  }
  return undefined;
}

/**
 * Handles the bucket's event that an object has arrived. If a pending ticket waits for these bytes, this function makes the file, even if
 * the client never sends the request to complete the upload. If the ticket is no longer pending, the bytes stay until the ticket ends, so
 * that S3 refuses further PUTs. If the ticket has ended, this function removes the bytes. Events may come late, twice and out of order, so
 * only the ticket and the object decide. The events of the empty objects that we store ourselves change nothing.
 *
 * Usually the client's own attempt is under way. Then this function waits until that attempt ends or, if the attempt died, until its lease
 * ends.
 * @throws ApiError `service_unavailable` or `timeout`: then the event must be delivered again.
 */
export async function completeArrivedUpload(
  stores: CompletingStores,
  key: string,
  completing: Completing,
  clock: () => number = Date.now,
): Promise<'settled' | 'nothing waits' | 'removed' | 'refused'> {
  const ref = fileOfIncomingKey(key);
  if (!ref) return 'nothing waits';
  const ticket = await stores.tickets.get(ref);
  if (ticket?.state !== 'pending') {
    if (ticket && ticket.endsAt > clock()) return 'nothing waits';
    await stores.objects.remove(key);
    return 'removed';
  }
  try {
    await completeUpload(stores, ref, { ...completing, patienceMs: Number.POSITIVE_INFINITY }, clock);
    return 'settled';
  } catch (error) {
    // The ticket was cancelled or swept, or the account was suspended or has the maximum number of files. The sweeper removes what is
    // left.
    if (error instanceof ApiError && error.status < 500) return 'refused';
    throw error;
  }
}
