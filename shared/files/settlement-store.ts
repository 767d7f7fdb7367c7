import type { Allowance, Refusal } from '../accounts/allowance.ts';
import type { Deadline } from '../time-limit.ts';
import type { IdempotencyClaim, PendingTicket, StoredFile } from './file.ts';

/** A claim, and the ticket it may take over from: one that will never become a file. */
export interface NewClaim extends IdempotencyClaim {
  readonly replacesTicket?: string;
}

/**
 * The transactions that take storage: all of each happens, or nothing. None says more than that its condition held or
 * which did not; `service_unavailable` may also mean that only the answer was lost.
 */
export interface SettlementStore {
  /**
   * A pending multipart upload becomes a file: charged, counted, listed, and remembered for its `Idempotency-Key`. Its bytes
   * count as sent on the day on which the file was created.
   */
  settleUpload(
    settlement: { file: StoredFile; seq: number; allowance: Allowance; claim?: IdempotencyClaim },
    deadline: Deadline,
  ): Promise<'settled' | 'not pending' | 'key taken' | Refusal>;

  /**
   * A ticket is written, its size charged and counted as sent. It takes no place among the files, but is refused while there
   * is none. @param reservation.now  epoch milliseconds.
   */
  reserve(
    reservation: { ticket: PendingTicket; allowance: Allowance; now: number; claim?: NewClaim },
    deadline: Deadline,
  ): Promise<'reserved' | 'key taken' | Refusal>;

  /**
   * A ticket, charged already, becomes a file under the key of the attempt that has the lease on it. What arrived, and the
   * copies of other attempts, are the sweeper's to remove when the ticket ends.
   * @returns `not pending` also when another attempt has the lease; `no room` when the account has as many files as it may,
   *   and the ticket stays pending.
   */
  settleTicket(
    settlement: { ticket: PendingTicket; file: StoredFile; seq: number; fileCountLimit: number },
    deadline: Deadline,
  ): Promise<'settled' | 'not pending' | 'no room'>;
}
