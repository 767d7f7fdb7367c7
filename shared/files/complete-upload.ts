import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountStore } from '../accounts/account.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import { isUuid } from '../ids.ts';
import { describeError, log } from '../log.ts';
import { briefly, checkDeadline, type Deadline, inTime, WORK_AFTER_DEADLINE_MS } from '../time-limit.ts';
import { contentDisposition } from './content-disposition.ts';
import { type FileRef, hasLiveTicket, type PendingTicket, type StoredFile } from './file.ts';
import type { FileStore, ReleaseStore, SettlementStore } from './file-store.ts';
import { startsGroup, tidyGroups } from './listing-counters.ts';
import { fileOfIncomingKey, incomingKey, newPublicKey } from './object-key.ts';
import type { ObjectStore } from './object-store.ts';
import { copyMs } from './parts.ts';

interface CompletingStores {
  readonly accounts: AccountStore;
  readonly files: FileStore;
  readonly objects: ObjectStore;
  readonly releases: ReleaseStore;
  readonly settlements: SettlementStore;
}

/** An attempt may be at work until then after its deadline, and a moment. */
const LEASE_MARGIN_MS = WORK_AFTER_DEADLINE_MS + 1_000;
/** Besides the time of a copy: what an attempt needs for all else. */
const PATIENCE_MS = 3_000;
const FIRST_WAIT_MS = 150;
const LONGEST_WAIT_MS = 2_000;
/** A ticket can change under us this often (pending, ready or cancelled, gone) and no oftener. */
const TURNS = 3;

interface Completing extends Deadline {
  readonly fileCountLimit: number;
  /** How long another attempt is waited for that is at work, in milliseconds; as long as one may take, unless given. */
  readonly patienceMs?: number;
}

/**
 * Makes a direct upload a file once its bytes have arrived. Safe twice, at once (the client and the event of the bucket
 * race as a rule), and against a cancel: one attempt at a time copies the bytes, under a lease on the row, and the others
 * wait for its file. A pending ticket stays pending, so it can be tried again until it ends.
 *
 * Each attempt copies to a public key of its own, written on the row before: one that dies on the way leaves a key that the
 * row knows, and one that comes late, when its lease has ended, a copy that no link leads to. The bytes that arrived stay
 * where they are until the ticket ends (`file.ts` says why).
 * @returns the file, also if it was ready before.
 * @throws ApiError `not_found`; `upload_incomplete`; `storage_limit_exceeded` when the account has as many files as it may,
 *   and then the ticket ends as if it were cancelled, and is answered so until its end; `service_unavailable`, also when another attempt takes too long.
 */
export async function completeUpload(
  stores: CompletingStores,
  ref: FileRef,
  completing: Completing,
  clock: () => number = Date.now,
): Promise<StoredFile> {
  if (!isUuid(ref.id)) throw new ApiError('not_found');
  const { deadlineAt, patienceMs } = completing;
  let waitedMs = 0;
  for (let turn = 0; turn < TURNS; ) {
    checkDeadline(completing);
    const row = await stores.files.get(ref);
    if (row?.state === 'ready') return row;
    // By an earlier attempt of the client, or by the event of the bucket.
    if (row?.state === 'refused') throw new ApiError('storage_limit_exceeded');
    if (row?.state !== 'pending' || row.via !== 'ticket') throw new ApiError('not_found');
    if (row.attemptUntil !== undefined && row.attemptUntil > clock()) {
      const leftMs = (patienceMs ?? PATIENCE_MS + copyMs(row.sizeBytes)) - waitedMs;
      waitedMs += await waitForOther(waitedMs, { leftMs, deadlineAt });
    } else {
      const file = await attempt(stores, row, completing, clock);
      if (file) return file;
      turn += 1;
    }
  }
  throw serviceUnavailable({ detail: 'ticket changed all the time' });
}

/** Longer each time, and never the same for two. @returns how long it was, in milliseconds. */
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

/** @returns undefined when another attempt has the lease, or the ticket is not pending any more: the row says which. */
async function attempt(
  stores: CompletingStores,
  ticket: PendingTicket,
  { deadlineAt, fileCountLimit }: Completing,
  clock: () => number,
): Promise<StoredFile | undefined> {
  // S3 held the PUT to the signed length; another size could only be another object, which is not what was paid for.
  if ((await stores.objects.size(incomingKey(ticket))) !== ticket.sizeBytes) throw new ApiError('upload_incomplete');
  const objectKey = newPublicKey();
  const lease = { objectKey, until: deadlineAt + LEASE_MARGIN_MS };
  let [file, outcome]: [StoredFile?, Awaited<ReturnType<SettlementStore['settleTicket']>>?] = [];
  try {
    // When it fails, the lease may be ours all the same.
    if ((await stores.files.beginAttempt(ticket, lease, clock())) !== 'begun') return undefined;
    const { accountId, id, name, mimeType, sizeBytes } = ticket;
    const description = { owner: { accountId, id }, mimeType, contentDisposition: contentDisposition(name, mimeType) };
    if (await stores.objects.copy({ from: incomingKey(ticket), to: objectKey, sizeBytes }, description)) {
      const { seq, createdAt } = await stores.files.takeSeq(accountId, clock());
      file = { accountId, id, name, mimeType, sizeBytes, objectKey, createdAt };
      outcome = await stores.settlements.settleTicket({ ticket, file, seq, fileCountLimit }, { deadlineAt });
      if (outcome === 'settled') {
        if (startsGroup(seq)) await tidyGroups(stores.accounts, accountId);
        return file;
      }
    }
  } catch (error) {
    if ((await endAttempt(stores, ticket, objectKey)) === 'settled') return file;
    throw error;
  }
  await endAttempt(stores, ticket, objectKey);
  if (outcome !== 'no room') return undefined;
  // What arrived keeps its key taken. If we die before, the next attempt ends here again, or the sweeper ends the ticket.
  await stores.releases.releaseTicket(ticket, 'refused', { deadlineAt });
  throw new ApiError('storage_limit_exceeded');
}

/**
 * Gives the lease back at once, so that the next attempt need not wait for its end, then removes the copy. If we die before,
 * or it fails, the lease ends by itself, and the sweeper removes the copy when the ticket ends.
 * @returns `settled` when only the answer of the settlement was lost: then the file is there.
 */
async function endAttempt(stores: CompletingStores, ref: FileRef, objectKey: string): Promise<'ended' | 'settled'> {
  try {
    if ((await stores.files.endAttempt(ref, objectKey)) === 'settled') return 'settled';
    await briefly(() => stores.objects.remove(objectKey));
  } catch (error) {
    log('warn', 'attempt not tidied up; the sweeper will', { fileId: ref.id, ...describeError(error) });
  }
  return 'ended';
}

/**
 * What to do when the bucket says that something has arrived under a key: make the file if the ticket still waits for its
 * bytes, whether or not its client comes back to complete it. What nothing waits for stays there while the ticket lives,
 * because it keeps further bytes out; later it is removed. Events come late, twice and out of order: only the row and the
 * object decide, so those of the empty objects that we put there ourselves do nothing.
 *
 * An attempt of the client that is at work is waited for, to the end of its lease if it died: the two meet as a rule.
 * @throws ApiError `service_unavailable`: the event is to be delivered again.
 */
export async function settleUploadedObject(
  stores: CompletingStores,
  key: string,
  completing: Completing,
  clock: () => number = Date.now,
): Promise<'settled' | 'nothing waits' | 'removed' | 'refused'> {
  const ref = fileOfIncomingKey(key);
  if (!ref) return 'nothing waits';
  const row = await stores.files.get(ref);
  if (row?.state !== 'pending') {
    if (row && hasLiveTicket(row, clock())) return 'nothing waits';
    await stores.objects.remove(key);
    return 'removed';
  }
  try {
    await completeUpload(stores, ref, { ...completing, patienceMs: Number.POSITIVE_INFINITY }, clock);
    return 'settled';
  } catch (error) {
    // Cancelled or swept since, or the account was suspended, or may have no further file: the row and the sweeper see to the rest.
    if (error instanceof ApiError && error.status < 500) return 'refused';
    throw error;
  }
}
