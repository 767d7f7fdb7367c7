import type { AccountStore } from '../accounts/account-store.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import { isUuid } from '../ids.ts';
import { describeError, log } from '../log.ts';
import { briefly, checkDeadline, type Deadline } from '../time-limit.ts';
import { contentDisposition } from './content-disposition.ts';
import { cancelTicket } from './delete-file.ts';
import type { FileRef, PendingTicket, StoredFile } from './file.ts';
import type { FileStore } from './file-store.ts';
import { startsGroup } from './listing-counters.ts';
import { incomingKey, newPublicKey } from './object-key.ts';
import type { ObjectStore } from './object-store.ts';
import type { ReleaseStore } from './release-store.ts';
import type { SettlementStore } from './settlement-store.ts';
import { tidyGroups } from './tidy-groups.ts';

export interface CompletingStores {
  readonly accounts: AccountStore;
  readonly files: FileStore;
  readonly objects: ObjectStore;
  readonly releases: ReleaseStore;
  readonly settlements: SettlementStore;
}

export interface Completing extends Deadline {
  readonly fileCountLimit: number;
}

/** When the copies of attempts that lost are removed: long after the functions that make them have ended. */
const LEFTOVERS_AFTER_MS = 5 * 60_000;
/** A ticket can change under us this often (pending, ready or cancelled, gone) and no oftener. */
const TURNS = 3;

/**
 * Makes a direct upload a file once its bytes have arrived. Safe twice, at once (the client and the event of the bucket
 * race as a rule), and against a cancel: of all who try exactly one settles, and the others answer with its file.
 *
 * Each attempt copies the bytes to a public key of its own, written on the row before: whoever dies on the way leaves a
 * key that the row knows, and a late loser a copy that no link leads to. A pending ticket stays pending, so it can be
 * tried again until its deadline.
 * @returns the file, also if it was ready before.
 * @throws ApiError `not_found`; `upload_incomplete`; `storage_limit_exceeded` when the account has as many files as it may,
 *   and then the ticket is cancelled; `service_unavailable`.
 */
export async function completeUpload(
  stores: CompletingStores,
  ref: FileRef,
  completing: Completing,
  clock: () => number = Date.now,
): Promise<StoredFile> {
  if (!isUuid(ref.id)) throw new ApiError('not_found');
  let last: 'no bytes' | 'no room' | 'changed' = 'changed';
  for (let turn = 0; turn < TURNS; turn++) {
    checkDeadline(completing);
    const row = await stores.files.get(ref);
    if (row?.state === 'ready') return row;
    if (last === 'no room') throw new ApiError('storage_limit_exceeded');
    if (row?.state !== 'pending' || row.lane !== 'direct') throw new ApiError('not_found');
    // Looked at twice: the bytes are also gone when another attempt has just settled and tidied up.
    if (last === 'no bytes') throw new ApiError('upload_incomplete');
    const outcome = await attempt(stores, row, completing, clock);
    if (typeof outcome === 'object') return outcome;
    last = outcome;
  }
  throw serviceUnavailable({ detail: 'ticket changed all the time' });
}

async function attempt(
  stores: CompletingStores,
  ticket: PendingTicket,
  { fileCountLimit, ...deadline }: Completing,
  clock: () => number,
): Promise<StoredFile | 'no bytes' | 'no room' | 'changed'> {
  const { accountId, id, name, mimeType, sizeBytes } = ticket;
  // S3 held the PUT to the signed length; another size could only be another object, which is not what was paid for.
  if ((await stores.objects.size(incomingKey(ticket))) !== sizeBytes) return 'no bytes';
  const objectKey = newPublicKey();
  if (!(await stores.files.recordAttempt(ticket, objectKey))) return 'changed';
  const description = { owner: { accountId, id }, mimeType, contentDisposition: contentDisposition(name, mimeType) };
  if (!(await stores.objects.copy(incomingKey(ticket), objectKey, description))) return 'no bytes';
  const { seq, createdAt } = await stores.files.takeSeq(accountId, clock());
  const file: StoredFile = { accountId, id, name, mimeType, sizeBytes, objectKey, createdAt };
  const settlement = { ticket, file, seq, leftoversDueAt: clock() + LEFTOVERS_AFTER_MS, fileCountLimit };
  const outcome = await stores.settlements.settleTicket(settlement, deadline);
  if (outcome !== 'settled') {
    await removeQuietly(stores, objectKey, 'copy of a lost attempt');
    // If we die here, the ticket stays pending: the next attempt ends here again, or the sweeper ends it at its deadline.
    if (outcome === 'no room') await cancelTicket(stores, ticket, deadline);
    return outcome === 'no room' ? 'no room' : 'changed';
  }
  // If we die here or this fails, the bucket's one-day lifecycle removes the bytes; no link leads to them.
  await removeQuietly(stores, incomingKey(ticket), 'arrived bytes');
  if (startsGroup(seq)) await tidyGroups(stores.accounts, accountId);
  return file;
}

async function removeQuietly(stores: CompletingStores, key: string, what: string): Promise<void> {
  await briefly(() => stores.objects.remove(key)).catch((error) => {
    log('warn', `${what} not removed; the sweeper or the bucket's lifecycle will`, describeError(error));
  });
}
