import type { Allowance, Refusal } from '../accounts/allowance.ts';
import type { Deadline } from '../time-limit.ts';
import type {
  FileRef,
  FileRow,
  IdempotencyClaim,
  LeftoverRow,
  ListedFile,
  PendingTicket,
  PendingUpload,
  ReadyFile,
  StoredFile,
} from './file.ts';
import type { SeqRange } from './listing-counters.ts';

/** An attempt to complete a direct upload. */
interface Attempt {
  /** Where it copies the bytes to. */
  readonly objectKey: string;
  /** End of its lease: longer than the function that makes it can be at work. */
  readonly until: number;
}

/** The rows of files, one at a time. What touches the account's books as well is in the settlement and release stores. */
export interface FileStore {
  /** As of now (a strong read); undefined when there is no such file. */
  get(ref: FileRef): Promise<FileRow | undefined>;

  /** Writes the row of an upload that begins; a repetition changes nothing. */
  putPending(upload: PendingUpload): Promise<void>;

  /** Moves the deadline of a pending upload forward, never back. @returns false when the row is not pending any more. */
  renew(ref: FileRef, dueAt: number): Promise<boolean>;

  /** Moves the end of a pending ticket forward, never back. @returns false when the row is not pending any more. */
  renewTicket(ref: FileRef, ticketEndsAt: number): Promise<boolean>;

  /**
   * Makes sure that a pending multipart upload never becomes a file: from here on no settlement of it can succeed, not
   * even one that is on its way to the database.
   * @returns `settled` when it is a file already; `absent` when there is no row.
   */
  giveUp(ref: FileRef): Promise<'given up' | 'settled' | 'absent'>;

  /**
   * Takes the lease on completing a pending ticket, and writes the public key of the attempt on the row, before anything is
   * stored there. Only who has the lease can settle the ticket.
   * @returns `busy` when another attempt has it.
   */
  beginAttempt(ref: FileRef, attempt: Attempt, now: number): Promise<'begun' | 'busy' | 'not pending'>;

  /**
   * Gives the lease back: from here on no settlement by this attempt can succeed. Its key stays on the row, because a copy
   * may still appear there.
   * @returns `settled` when the attempt has made the file.
   */
  endAttempt(ref: FileRef, objectKey: string): Promise<'ended' | 'settled'>;

  /**
   * The next place in an account's listing, and the moment that belongs to it: `createdAt` never runs backwards along
   * `seq`, even when the clocks of two servers disagree. A place that is not used leaves a gap, which is harmless.
   */
  takeSeq(accountId: string, now: number): Promise<{ seq: number; createdAt: number }>;

  /** Moves the deadline of a row that is `deleting`; nothing happens to any other. */
  postpone(ref: FileRef, dueAt: number): Promise<void>;

  /** Removes the row of a leftover; nothing happens to any other. */
  remove(ref: FileRef): Promise<void>;
}

/** What an `Idempotency-Key` was used for. */
export interface IdempotencyRecord {
  /** SHA-256 of what was asked for, in hex. */
  readonly fingerprint: string;
  readonly fileId: string;
  /** The file as first answered; absent while it is a ticket that has not become one. */
  readonly file?: StoredFile;
}

export interface IdempotencyStore {
  /** As of now (a strong read); undefined when the key is unused, or its 24 hours are over at `now`. */
  get(accountId: string, key: string, now: number): Promise<IdempotencyRecord | undefined>;
}

/** An account's ready files in the order of their `seq`. All reads are strong: what a client was told of is listed. */
export interface ListingStore {
  /** Files by leaf, of the leaves of one group; a leaf without files may be absent. One read. */
  leaves(accountId: string, group: number): Promise<ReadonlyMap<number, number>>;

  /**
   * Some of the files with a `seq` in the range, from its newest or its oldest end.
   * @param limit  absent: as many as one read gives (1 MB).
   * @returns `rest`: the part of the range that was not read; absent when that is all.
   */
  files(
    accountId: string,
    range: SeqRange,
    from: { readonly end: 'newest' | 'oldest'; readonly limit?: number },
  ): Promise<{ files: ListedFile[]; rest?: SeqRange }>;
}

/**
 * The transactions that give storage back: all of each happens, or nothing. `changed` means that the row was in another
 * state by then, and nothing happened.
 */
export interface ReleaseStore {
  /** A file is no file any more: it leaves the listing and the counts, and its size is free. @param dueAt  see FileRow. */
  releaseFile(file: ReadyFile, work: { dueAt: number }, deadline: Deadline): Promise<'released' | 'changed'>;

  /**
   * The reservation of a ticket ends, unless the row's deadline is another than that of `ticket`: then the ticket was renewed
   * since it was read, and nothing happens. A `cancelled` or `refused` row keeps its deadline, until which bytes may still arrive by the
   * ticket's URL. A `deleting` one is the sweeper's to finish.
   */
  releaseTicket(
    ticket: PendingTicket,
    state: LeftoverRow['state'],
    deadline: Deadline,
  ): Promise<'released' | 'changed'>;
}

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
