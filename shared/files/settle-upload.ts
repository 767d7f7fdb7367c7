import { type Refusal, refusalError } from '../accounts/allowance.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
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
 * An error of 5xx says that the outcome is unknown: the transaction may have happened, or may still happen (decision 0040). So the object
 * stays, because a file may need it. If there is no such file, the walk of the bucket removes the object.
 * @throws ApiError `storage_limit_exceeded`; `rate_limit_exceeded` for the bytes of the day; `idempotency_conflict` when another request
 *   took the key meanwhile; `unauthorized`. Then there is no file and will be none, so the object is removed. `timeout` when the upload took
 *   too long; `service_unavailable`.
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
    if (error instanceof ApiError && error.status < 500) await discardUpload(stores, file);
    throw error;
  }
  if (typeof outcome === 'object') {
    await tidyGroups(stores.accounts, file.accountId, outcome.seq);
    return { file: outcome.file, isReplay: false };
  }
  await discardUpload(stores, file);
  return refused(stores, staged, outcome, clock());
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
