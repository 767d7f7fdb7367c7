import type { Account } from '../accounts/account.ts';
import type { Allowance, Refusal } from '../accounts/allowance.ts';
import type { Deadline } from '../time-limit.ts';
import type { FileRef, FileRow, IdempotencyClaim, ListedFile, ReadyFile, StoredFile, Ticket } from './file.ts';
import type { SeqRange } from './listing-counters.ts';

/**
 * What the domain of files reads and writes in the tables of files, accounts and idempotency. `shared/aws/` implements each store in a
 * file of the same name.
 */

/** An attempt to complete a ticket. */
interface Attempt {
  /** The object key to which it copies the bytes. */
  readonly objectKey: string;
  /** End of its lease. From then on another attempt may take the lease, even if this attempt is still at work. */
  readonly until: number;
}

/** The rows of files, one at a time. Writes that also change the books are in {@link SettlementStore} and {@link ReleaseStore}. */
export interface FileStore {
  /** Reads the row strongly; undefined when there is no such file. */
  get(ref: FileRef): Promise<FileRow | undefined>;

  /** Removes a row that is `deleting`; changes no other row. */
  remove(ref: FileRef): Promise<void>;
}

/** The rows of tickets, one at a time. The rows are in the order in which the tickets end, in a partition for each shard (`shards.ts`). */
export interface TicketStore {
  /** Reads the row strongly; undefined when there is no such ticket, or the sweeper has removed it after its end. */
  get(ref: FileRef): Promise<Ticket | undefined>;

  /** Makes a pending ticket end later, never earlier. @returns false when the ticket is no longer pending. */
  renew(ref: FileRef, endsAt: number): Promise<boolean>;

  /**
   * Takes the lease on completing a pending ticket, and adds the object key of the attempt's copy to the row. The caller does this before
   * it stores anything under that object key. Only the holder of the lease can settle the ticket.
   * @returns `busy` when another attempt holds the lease.
   */
  beginAttempt(ref: FileRef, attempt: Attempt, now: number): Promise<'begun' | 'busy' | 'not pending'>;

  /**
   * Gives the lease back: from here on no settlement by this attempt can succeed. Its key stays on the row, because a copy
   * may still appear under that key.
   * @returns `settled` when the attempt has made the file.
   */
  endAttempt(ref: FileRef, objectKey: string): Promise<'ended' | 'settled'>;

  /**
   * The tickets of a shard that have ended at `time`, some at a time. They come in the order in which they would have ended without a
   * renewal. The rows may be some seconds out of date.
   * @param rows  how many rows to read at a time.
   * @throws after all tickets, the error of the first row that could not be read.
   */
  endedAt(shard: number, time: number, rows: number): AsyncIterable<Ticket[]>;

  /** Every ticket of an account, by strong reads. This reads the whole shard of the account, so no request uses it. */
  ofAccount(accountId: string): AsyncIterable<Ticket>;

  /** Removes the row of a ticket, unless the ticket is pending. @returns false when it is pending, or was gone already. */
  remove(ref: FileRef): Promise<boolean>;
}

/** The request that an `Idempotency-Key` was used for. */
export interface IdempotencyRecord {
  /** SHA-256 of what the request asks for, in hex. */
  readonly fingerprint: string;
  readonly fileId: string;
  /** The file as the first answer had it; absent while the key stands for a ticket that has not become a file. */
  readonly file?: StoredFile;
}

export interface IdempotencyStore {
  /** Reads strongly; undefined when the key is unused, or its 24 hours are over at `now`. */
  get(accountId: string, key: string, now: number): Promise<IdempotencyRecord | undefined>;
}

/** A claim, and the ticket that it may replace: one that will never become a file. */
export interface NewClaim extends IdempotencyClaim {
  readonly replacesTicket?: string;
}

/** The part of an account that decides the place of its next file. */
export type ListingEnd = Pick<Account, 'nextSeq' | 'lastFileAt'>;

/** A file before it has a place in the listing. It gets its `createdAt` together with that place. */
export type UnsettledFile = Omit<StoredFile, 'createdAt'>;

/** A file with its place in the listing. */
export interface Settled {
  readonly file: StoredFile;
  readonly seq: number;
}

/**
 * The transactions that charge storage. Each writes everything or nothing. Its result says that it has happened, or which condition failed:
 * then nothing was written, and nothing will be. It throws `unauthorized` when the account is suspended or gone, and `timeout` when the
 * deadline had passed before it began. It throws `service_unavailable`, or `timeout` later, when the outcome is unknown: the transaction may
 * have happened, or may happen some minutes later (decision 0040). After that, only `settleTicket` can be prevented, by the end of the
 * attempt ({@link TicketStore.endAttempt}). A ticket of which its client does not know ends like any other.
 */
export interface SettlementStore {
  /**
   * Makes a file of an upload by a form. The file is charged, counted, listed, and recorded for its `Idempotency-Key`. Its bytes count as
   * sent on the day of its `createdAt`. This time is `now`, or the `createdAt` of the file before it if that is later.
   * @returns the file, even if an earlier call has made it.
   */
  settleUpload(
    settlement: {
      file: UnsettledFile;
      now: number;
      allowance: Allowance & { readonly known: ListingEnd };
      claim?: IdempotencyClaim;
    },
    deadline: Deadline,
  ): Promise<Settled | 'key taken' | Refusal>;

  /**
   * Writes a ticket, charges its size, and counts its bytes as sent. A ticket takes no place among the account's files, but is refused
   * while the account has the maximum number of files.
   * @param reservation.now  epoch milliseconds.
   */
  reserve(
    reservation: { ticket: Ticket; allowance: Allowance; now: number; claim?: NewClaim },
    deadline: Deadline,
  ): Promise<'reserved' | 'key taken' | Refusal>;

  /**
   * Makes a file of a ticket, whose size is charged already. The object of the file is the copy of the attempt that holds the lease. The
   * sweeper removes the bytes in `incoming/`, and the copies of other attempts, when the ticket ends.
   * @returns `not pending` when the ticket is not pending, or another attempt holds its lease; `no room` when the account has the maximum
   *   number of files; then the ticket stays pending.
   */
  settleTicket(
    settlement: {
      ticket: Ticket;
      file: UnsettledFile;
      known: ListingEnd;
      now: number;
      fileCountLimit: number;
    },
    deadline: Deadline,
  ): Promise<Settled | 'not pending' | 'no room'>;
}

/**
 * The transactions that give storage back. Each writes everything or nothing. `changed` means that nothing was written, because the
 * row was in another state by then.
 */
export interface ReleaseStore {
  /**
   * Takes a file out of the listing and the counts, frees its size, and changes its row to `deleting`. The caller then removes the object
   * and the row. From `work.dueAt` on, the sweeper does that.
   * @param work  times in epoch milliseconds.
   */
  releaseFile(
    file: ReadyFile,
    work: { now: number; dueAt: number },
    deadline: Deadline,
  ): Promise<'released' | 'changed'>;

  /**
   * Ends the reservation of a ticket. Nothing happens when the row has another `endsAt` than `ticket`, because then the ticket was
   * renewed since it was read. The row stays until the ticket ends, because bytes may still arrive by its URL.
   */
  releaseTicket(
    ticket: Ticket,
    state: 'cancelled' | 'refused' | 'ended',
    deadline: Deadline,
  ): Promise<'released' | 'changed'>;
}

/**
 * An account's ready files in the order of their `seq`. Files and bitmaps are read strongly, so a file is listed as soon as its client has
 * the answer 201.
 */
export interface ListingStore {
  /** The bitmaps of the removed files of each leaf of one group, in one read. A leaf without removed files may be absent. */
  removedByLeaf(accountId: string, group: number): Promise<ReadonlyMap<number, bigint>>;

  /**
   * Some of the files with a `seq` in the range, newest first.
   * @param limit  without it, as many files are read as one read gives (1 MB).
   * @returns `rest`: the part of the range that was not read; absent when all of it was.
   */
  files(accountId: string, range: SeqRange, limit?: number): Promise<{ files: ListedFile[]; rest?: SeqRange }>;
}
