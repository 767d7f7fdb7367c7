import type { FileRef, FileRow, PendingUpload } from './file.ts';

/** An attempt to complete a direct upload. */
export interface Attempt {
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
