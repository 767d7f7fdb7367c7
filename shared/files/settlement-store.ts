import type { IdempotencyClaim, PendingTicket, StoredFile } from './file.ts';

/** What an account may store, as the caller knows it; the store finds out when the operator's exception has changed. */
export interface StorageLimit {
  readonly defaultBytes: number;
  /** The account's own limit, as read before. */
  readonly ownBytes?: number;
}

/** A claim, and the ticket it may take over from: one that will never become a file. */
export interface NewClaim extends IdempotencyClaim {
  readonly replacesTicket?: string;
}

export interface Deadline {
  /** No attempt starts after this (epoch milliseconds). */
  readonly deadlineAt: number;
}

/**
 * The transactions that take storage: all of each happens, or nothing. None says more than that its condition held or
 * which did not; `service_unavailable` may also mean that only the answer was lost.
 */
export interface SettlementStore {
  /** A pending multipart upload becomes a file: charged, counted, listed, and remembered for its `Idempotency-Key`. */
  settleUpload(
    settlement: { file: StoredFile; seq: number; limit: StorageLimit; claim?: IdempotencyClaim },
    deadline: Deadline,
  ): Promise<'settled' | 'not pending' | 'no room' | 'key taken'>;

  /** A ticket is written and its size charged. */
  reserve(
    reservation: { ticket: PendingTicket; limit: StorageLimit; claim?: NewClaim },
    deadline: Deadline,
  ): Promise<'reserved' | 'no room' | 'key taken'>;

  /**
   * A ticket, charged already, becomes a file under the key of this attempt. Copies of other attempts stay on the row, for
   * the sweeper to remove.
   */
  settleTicket(
    settlement: { ticket: PendingTicket; file: StoredFile; seq: number; leftoversDueAt: number },
    deadline: Deadline,
  ): Promise<'settled' | 'not pending'>;
}
