import type { FileRef, FileRow, PendingUpload } from './file.ts';

/** The rows of files, one at a time. What touches the account's books as well is in the settlement and release stores. */
export interface FileStore {
  /** As of now (a strong read); undefined when there is no such file. */
  get(ref: FileRef): Promise<FileRow | undefined>;

  /** Writes the row of an upload that begins; a repetition changes nothing. */
  putPending(upload: PendingUpload): Promise<void>;

  /** Moves the deadline of a pending row forward, never back. @returns false when the row is not pending any more. */
  renew(ref: FileRef, dueAt: number): Promise<boolean>;

  /**
   * Makes sure that a pending multipart upload never becomes a file: from here on no settlement of it can succeed, not
   * even one that is on its way to the database.
   * @returns `settled` when it is a file already; `absent` when there is no row.
   */
  giveUp(ref: FileRef): Promise<'given up' | 'settled' | 'absent'>;

  /** Writes a public key on a pending ticket before anything is stored there. @returns false when it is not pending. */
  recordAttempt(ref: FileRef, objectKey: string): Promise<boolean>;

  /**
   * The next place in an account's listing, and the moment that belongs to it: `createdAt` never runs backwards along
   * `seq`, even when the clocks of two servers disagree. A place that is not used leaves a gap, which is harmless.
   */
  takeSeq(accountId: string, now: number): Promise<{ seq: number; createdAt: number }>;

  /** Removes the row of a leftover; nothing happens to any other. */
  remove(ref: FileRef): Promise<void>;
}
