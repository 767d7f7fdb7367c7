import { numberOfUuid, timeOfUuid, uuidv7 } from '../ids.ts';

/**
 * A file and a ticket, and the states of their rows. A file that came by a form has no ticket.
 *
 * ```
 * file:    (no row) ──settle──▶ ready ──delete──▶ deleting ──object removed──▶ (gone)
 *
 * ticket:  pending ──settle────────────────▶ settled ────end of the ticket──▶ (gone)
 *             ├──────cancel────────────────▶ cancelled ──end of the ticket──▶ (gone)
 *             ├──────too many files────────▶ refused ────end of the ticket──▶ (gone)
 *             └──────end of the ticket─────▶ ended ─────────────────────────▶ (gone)
 * ```
 * All times are epoch milliseconds.
 *
 * A PUT by one of a ticket's URLs may arrive until the ticket ends, whatever the state of the ticket. So the row of the ticket stays until
 * then, and so does its object in `incoming/`. This object has the bytes that arrived; for a cancelled ticket without bytes it is empty.
 * While there is an object, S3 refuses every further PUT (`If-None-Match: *`). Decision 0023. When the ticket ends, the sweeper removes row
 * and object.
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

/** The row of a ready file. */
export interface ReadyFile extends ListedFile {
  readonly state: 'ready';
  readonly via: Via;
}

/** The row of a deleted file, which is out of the books already. Its object, and then the row, have yet to be removed. */
export interface DeletedFile extends FileRef {
  readonly state: 'deleting';
  readonly via: Via;
  readonly objectKey: string;
}

export type FileRow = ReadyFile | DeletedFile;

/** Permission to put one file into the bucket directly. The file gets the id of its ticket. */
export interface Ticket extends FileRef {
  /**
   * While the ticket is `pending`, its size is charged: this is its reservation. A ticket is `refused` when the account had no room for
   * another file at its completion. Like a cancelled ticket, a refused one can no longer become a file. But its completion is answered
   * `storage_limit_exceeded`, not `not_found`.
   */
  readonly state: 'pending' | 'settled' | 'cancelled' | 'refused' | 'ended';
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Base64 of 32 bytes. */
  readonly checksumSha256?: string;
  /** The object keys of copies that the sweeper has to remove: those of attempts that failed, died, or are under way. */
  readonly attemptKeys: readonly string[];
  /** End of the lease of the current attempt to complete the ticket; absent when there is none. */
  readonly attemptUntil?: number;
  /** The ticket's `Idempotency-Key`: settling writes the file into the record of the key. */
  readonly idempotency?: IdempotencyClaim;
  /**
   * Until this time a PUT by any of the ticket's URLs may arrive. The slowest PUT that begins at the last moment ends some minutes before
   * this time (see `directTicketMs`).
   */
  readonly endsAt: number;
}

/**
 * Makes the id of a ticket. The id says when the ticket ends, if the ticket is not renewed. The rows of tickets are sorted by this time, so
 * the sweeper finds ended tickets without an index (decision 0038). The row of one ticket is found by the account and the id.
 * @param lifetimeMs  milliseconds, at most 291 hours; a multiple of 1,000, because the id has room only for whole seconds.
 */
export function newTicketId(now: number, lifetimeMs: number): string {
  return uuidv7(now, lifetimeMs / 1_000);
}

/** When a ticket of this id ends, if it is not renewed. */
export function firstEndOf(id: string): number {
  return timeOfUuid(id) + numberOfUuid(id) * 1_000;
}

/** What a request with an `Idempotency-Key` writes in the same transaction as its effect. */
export interface IdempotencyClaim {
  readonly key: string;
  /** SHA-256 of what the request asks for, in hex. */
  readonly fingerprint: string;
  /** For 24 hours from this time on, the key stands for the request. */
  readonly claimedAt: number;
}

/** Some of an account's files, in the order of the list. */
export interface FilePage {
  readonly files: StoredFile[];
  /** The number of all files, or of all that match the search. */
  readonly total: number;
}
