import { type Refusal, refusalError } from '../accounts/allowance.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import { type Lane, measure } from '../metrics.ts';
import type { StoredFile } from './file.ts';
import type { SettlementStore } from './file-store.ts';
import { replay } from './idempotency.ts';
import { tidyGroups } from './listing-counters.ts';
import { discardUpload } from './pending-upload.ts';
import type { StagedUpload, StagingStores } from './stage-upload.ts';

interface SettlingStores extends StagingStores {
  readonly settlements: SettlementStore;
}

export interface SettledUpload {
  readonly file: StoredFile;
  /** True when an earlier request with the same `Idempotency-Key` made the file. */
  readonly isReplay: boolean;
}

/**
 * Makes a staged upload a file, in one transaction: charged, counted, listed and recorded for its `Idempotency-Key`.
 *
 * When the answer of the transaction is lost, we give the upload up. That either proves that the transaction has not happened
 * and cannot happen any more, or finds the file. (The outcome stays unknown only when the database does not answer that
 * either: then the client gets an error, and the file may exist; it is consistent and can be deleted.) Invariant I7 of
 * `docs/architecture.md`.
 * @throws ApiError `storage_limit_exceeded`; `rate_limit_exceeded` for the bytes of the day; `idempotency_conflict` when
 *   another request took the key meanwhile; `timeout` when the upload took too long and was given up;
 *   `service_unavailable`. Then the upload is discarded.
 */
export async function settleUpload(
  stores: SettlingStores,
  staged: StagedUpload,
  { deadlineAt }: { deadlineAt: number },
  clock: () => number = Date.now,
): Promise<SettledUpload> {
  if (staged.kind === 'replay') return { file: staged.file, isReplay: true };
  const { upload, allowance, claim } = staged;
  let file: StoredFile | undefined;
  try {
    const { seq, createdAt } = await stores.files.takeSeq(upload.accountId, clock());
    file = { ...staged.file, createdAt };
    const settlement = { file, seq, allowance, ...(claim && { claim }) };
    const outcome = await stores.settlements.settleUpload(settlement, { deadlineAt });
    if (outcome === 'settled') {
      await tidyGroups(stores.accounts, upload.accountId, seq);
      return { file, isReplay: false };
    }
    return await refused(stores, staged, outcome, clock());
  } catch (error) {
    if ((await discardUpload(stores, upload)) === 'settled' && file) return { file, isReplay: false };
    throw error;
  }
}

/**
 * Decides what answers an upload that was not settled.
 * @returns the file of another request with the same key, if it asked for the same file.
 * @throws ApiError as {@link settleUpload}.
 */
async function refused(
  stores: SettlingStores,
  { upload, claim }: StagedUpload & { kind: 'stored' },
  outcome: 'not pending' | 'key taken' | Refusal,
  now: number,
): Promise<SettledUpload> {
  if (outcome === 'not pending')
    throw new ApiError('timeout', { detail: 'the lease ended before the upload was settled' });
  // Another request with the same key may have used the room: then its file is the answer.
  const earlier = claim && (await stores.idempotency.get(upload.accountId, claim.key, now));
  if (claim && earlier) {
    const file = replay(earlier, claim.fingerprint);
    await discardUpload(stores, upload);
    return { file, isReplay: true };
  }
  // The record that held the key has expired since: the next attempt can take it.
  if (outcome === 'key taken') throw serviceUnavailable({ detail: 'key taken, and free again' });
  throw refusalError(outcome, now);
}

/**
 * Wraps the settlements so that each new file, and its bytes, are counted in the metrics of a lane. A file is counted when
 * its transaction is known to have happened: a replay or the loser of a race is not counted, and a file whose answer was
 * lost may be missing.
 */
export function countedSettlements(settlements: SettlementStore, lane: Lane): SettlementStore {
  function count<Outcome>(outcome: Outcome, { sizeBytes }: StoredFile): Outcome {
    if (outcome === 'settled') measure({ Lane: lane }, { Uploads: 1, UploadedBytes: sizeBytes });
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
