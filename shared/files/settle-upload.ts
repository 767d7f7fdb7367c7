import { type Refusal, refusalError } from '../accounts/allowance.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import { type Lane, measure } from '../metrics.ts';
import type { StoredFile } from './file.ts';
import type { SettlementStore } from './file-store.ts';
import { replay } from './idempotency.ts';
import { startsGroup, tidyGroups } from './listing-counters.ts';
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
 * Makes a staged upload a file, in one transaction: charged, counted, listed and remembered for its key.
 *
 * When the answer of the transaction is lost, the upload is given up, which either proves that it did not happen and
 * cannot any more, or finds the file there. (Only when the database does not answer that either is the outcome unknown:
 * then the client gets an error, and the file may exist, consistent and deletable.)
 * @throws ApiError `storage_limit_exceeded`; `rate_limit_exceeded` for the bytes of the day; `idempotency_conflict` when
 *   another request took the key meanwhile; `timeout` when the upload was given up because it took too long;
 *   `service_unavailable`. The upload is discarded then.
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
      if (startsGroup(seq)) await tidyGroups(stores.accounts, upload.accountId);
      return { file, isReplay: false };
    }
    return await refused(stores, staged, outcome, clock());
  } catch (error) {
    if ((await discardUpload(stores, upload)) === 'settled' && file) return { file, isReplay: false };
    throw error;
  }
}

/** @returns the file of the request that took the key, if it was for the same one. */
async function refused(
  stores: SettlingStores,
  { upload, claim }: StagedUpload & { kind: 'stored' },
  outcome: 'not pending' | 'key taken' | Refusal,
  now: number,
): Promise<SettledUpload> {
  if (outcome === 'not pending')
    throw new ApiError('timeout', { detail: 'the lease ended before the upload was settled' });
  // With a key, the room may be gone because another request with it was quicker: then its file is the answer.
  const earlier = claim && (await stores.idempotency.get(upload.accountId, claim.key, now));
  if (claim && earlier) {
    const file = replay(earlier, claim.fingerprint);
    await discardUpload(stores, upload);
    return { file, isReplay: true };
  }
  // What held the key has gone since: the next attempt may have it.
  if (outcome === 'key taken') throw serviceUnavailable({ detail: 'key taken, and free again' });
  throw refusalError(outcome, now);
}

/**
 * Settlements that count each file they make, and its bytes, by the lane these came on. Counted where the transaction is
 * known to have happened, so a replay or the loser of a race counts nothing; one whose answer was lost may be missing.
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
