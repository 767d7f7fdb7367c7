/**
 * A file, and the states of its row:
 *
 * ```
 * via form:    (no row) ──settle──▶ ready ──delete──▶ (gone); if S3 fails: deleting ──▶ (gone)
 * via ticket:  pending ──settle──▶ ready ──delete──▶ deleting ──▶ (gone)
 *                 ├──────expire────────────────────────▲
 *                 ├──────cancel──▶ cancelled ──end of the ticket──▶ (gone)
 *                 └──no room for the file──▶ refused ──end of the ticket──▶ (gone)
 * ```
 * A row with work left to do has a deadline (`dueAt`); after it the sweeper takes the row and finishes the work. All times
 * are epoch milliseconds.
 *
 * A PUT by one of a ticket's URLs may arrive until the ticket ends, whatever the state of the row. The row stays that long, and so does
 * the object under its key in `incoming/`: the bytes that arrived or, for a cancelled ticket without bytes, an empty object. While
 * there is an object, S3 refuses every further PUT (`If-None-Match: *`). Decision 0023.
 */

/** Identifies one file by its account and its id. */
export interface FileRef {
  readonly accountId: string;
  /** UUIDv7. */
  readonly id: string;
}

/** A file that can be listed and downloaded. */
export interface StoredFile extends FileRef {
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** `uploads/<token>`; the file's link is made from it. */
  readonly objectKey: string;
  /** When it became ready. */
  readonly createdAt: number;
}

/** A file with its place in the listing. A newer file has a higher `seq`. */
export interface ListedFile extends StoredFile {
  readonly seq: number;
}

/** How the bytes reach the bucket: by a form that we read, or by a PUT that a ticket allows. */
export type Via = 'form' | 'ticket';

/** Permission to put one file into the bucket directly. Its size is charged already: it is a reservation. */
export interface PendingTicket extends FileRef {
  readonly state: 'pending';
  readonly via: 'ticket';
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Base64 of 32 bytes. */
  readonly checksumSha256?: string;
  /** Public keys that attempts to complete the ticket have copied the bytes to, or are copying them to. */
  readonly attemptKeys: readonly string[];
  /** End of the lease of the current attempt; absent when there is none. */
  readonly attemptUntil?: number;
  /** The ticket's `Idempotency-Key`: settling writes the file into its record. */
  readonly idempotency?: IdempotencyClaim;
  /**
   * Until this time a PUT by any of the ticket's URLs may arrive. It is when the slowest PUT ends, if it begins at the last moment.
   */
  readonly ticketEndsAt: number;
  /** Equal to `ticketEndsAt`, unless a sweeper has taken the row. */
  readonly dueAt: number;
}

export interface ReadyFile extends ListedFile {
  readonly state: 'ready';
  readonly via: Via;
  /** Copies of attempts that lost; the sweeper has yet to remove them. */
  readonly attemptKeys: readonly string[];
  /** Present for a file via ticket until the sweeper has removed its object in `incoming/`. */
  readonly ticketEndsAt?: number;
}

/** What is left of a file or ticket whose size was given back already: its objects must be removed, then its row. */
export interface LeftoverRow extends FileRef {
  /** `refused` is like `cancelled`, but because the account had no room for another file when the ticket was completed. */
  readonly state: 'cancelled' | 'refused' | 'deleting';
  readonly via: Via;
  readonly objectKey?: string;
  readonly attemptKeys: readonly string[];
  readonly ticketEndsAt?: number;
}

export type FileRow = PendingTicket | ReadyFile | LeftoverRow;

/** True while a PUT by a URL of the row's ticket may still arrive. */
export function hasLiveTicket<Row extends FileRow>(row: Row, now: number): row is Row & { ticketEndsAt: number } {
  return 'ticketEndsAt' in row && row.ticketEndsAt !== undefined && row.ticketEndsAt > now;
}

/** What a request with an `Idempotency-Key` writes in the same transaction as its effect. */
export interface IdempotencyClaim {
  readonly key: string;
  /** SHA-256 of what the request asks for, in hex. */
  readonly fingerprint: string;
  /** The key stands for this request for 24 hours from then. */
  readonly claimedAt: number;
}

/** Some of an account's files, in the order of the list. */
export interface FilePage {
  readonly files: StoredFile[];
  /** The number of all files, or of all that match the search. */
  readonly total: number;
}
