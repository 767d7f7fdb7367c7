import { type Lane, measure } from '../metrics.ts';
import type { StoredFile } from './file.ts';
import type { SettlementStore } from './settlement-store.ts';

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
