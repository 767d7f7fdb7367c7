import { type Refusal, refusalError } from '../accounts/allowance.ts';
import { serviceUnavailable } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { type Lane, measure } from '../metrics.ts';
import type { StoredFile } from './file.ts';
import { replay } from './idempotency.ts';
import { tidyGroups } from './listing-counters.ts';
import { discardUpload, type StagedUpload, type StagingStores } from './stage-upload.ts';
import type { SettlementStore, UnsettledFile } from './stores.ts';

interface SettlingStores extends StagingStores {
  readonly settlements: SettlementStore;
}

export interface SettledUpload {
  readonly file: StoredFile;
  /** True when an earlier request with the same `Idempotency-Key` made the file. */
  readonly isReplay: boolean;
}

/**
 * Makes a file of a staged upload. One transaction charges, counts and lists the file, and records it for its `Idempotency-Key`.
 *
 * When the transaction throws, for example because its answer is lost, we give the upload up. Giving up either makes sure that the
 * transaction has not happened and cannot happen any more, or finds the file. The outcome stays unknown only if the database does not
 * answer this second write either. In that case the client gets an error, although the file may exist. Such a file is consistent and can be
 * deleted. See invariant I7 of `docs/architecture.md`.
 * @throws ApiError `storage_limit_exceeded`; `rate_limit_exceeded` for the bytes of the day; `idempotency_conflict` when another request
 *   took the key meanwhile; `timeout` when the upload took too long; `service_unavailable`. In all these cases the upload is discarded,
 *   unless giving it up has failed.
 */
export async function settleUpload(
  stores: SettlingStores,
  staged: StagedUpload,
  { deadlineAt }: { deadlineAt: number },
  clock: () => number = Date.now,
): Promise<SettledUpload> {
  if (staged.kind === 'replay') return { file: staged.file, isReplay: true };
  const { file, allowance, claim } = staged;
  const settlement = { file, now: clock(), allowance, ...(claim && { claim }) };
  let outcome: Awaited<ReturnType<SettlementStore['settleUpload']>>;
  try {
    outcome = await stores.settlements.settleUpload(settlement, { deadlineAt });
  } catch (error) {
    const found = await giveUp(stores, file);
    if (!found) throw error;
    return { file: found, isReplay: false };
  }
  if (typeof outcome === 'object') {
    await tidyGroups(stores.accounts, file.accountId, outcome.seq);
    return { file: outcome.file, isReplay: false };
  }
  await discardUpload(stores, file);
  return refused(stores, staged, outcome, clock());
}

/**
 * Makes sure that an upload whose settlement failed never becomes a file, then removes its object.
 * @returns the file, if it has become one already.
 */
async function giveUp(stores: SettlingStores, file: UnsettledFile): Promise<StoredFile | undefined> {
  try {
    const found = await stores.settlements.giveUp(file);
    if (found) return found;
  } catch (error) {
    // The object stays, because there may be a file that needs it. If there is none, the walk of the bucket removes the object.
    log('warn', 'upload not given up; it may have become a file', { fileId: file.id, ...describeError(error) });
    return undefined;
  }
  await discardUpload(stores, file);
  return undefined;
}

/**
 * Finds the answer to an upload that was not settled.
 * @returns the file of another request with the same key, if that request asked for the same file.
 * @throws ApiError as {@link settleUpload}.
 */
async function refused(
  stores: SettlingStores,
  { file: { accountId, sizeBytes }, claim }: StagedUpload & { kind: 'stored' },
  outcome: 'key taken' | Refusal,
  now: number,
): Promise<SettledUpload> {
  // Another request with the same key may have used the room. Then the file of that request is the answer.
  const earlier = claim && (await stores.idempotency.get(accountId, claim.key, now));
  if (claim && earlier) return { file: replay(earlier, claim.fingerprint), isReplay: true };
  // The record that held the key has expired meanwhile, so the next attempt can take the key.
  if (outcome === 'key taken') throw serviceUnavailable({ detail: 'key taken, and free again' });
  throw refusalError(outcome, now, { bytes: sizeBytes });
}

/**
 * Wraps the settlements so that each new file, and its bytes, are counted in the metrics of a lane. A file is counted when we know that its
 * transaction has happened. So a replay is not counted, and neither is an upload whose key another request has taken. A file may be missing
 * in the count if the answer to its transaction was lost.
 */
export function countedSettlements(settlements: SettlementStore, lane: Lane): SettlementStore {
  function count<Outcome>(outcome: Outcome, { sizeBytes }: UnsettledFile): Outcome {
    if (typeof outcome === 'object') measure({ Lane: lane }, { Uploads: 1, UploadedBytes: sizeBytes });
    return outcome;
  }
  return {
    ...settlements,
    settleUpload: async (settlement, deadline) =>
      count(await settlements.settleUpload(settlement, deadline), settlement.file),
    settleTicket: async (settlement, deadline) =>
      count(await settlements.settleTicket(settlement, deadline), settlement.file),
  };
}
