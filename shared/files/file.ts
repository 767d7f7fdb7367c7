/**
 * A file, and the states its row goes through:
 *
 * ```
 * multipart:  pending ──settle──▶ ready ──delete──▶ deleting ──▶ (gone)
 *                └───────give up──────────────────────▲
 * direct:     pending ──settle──▶ ready ──delete──▶ deleting ──▶ (gone)
 *                ├───────expire───────────────────────▲
 *                └───────cancel──▶ cancelled, refused ──end of the ticket──▶ (gone)
 * ```
 * Every row with work left to do has a deadline, at which the sweeper finds it and finishes what was begun. Times are epoch
 * milliseconds.
 *
 * Until its ticket ends, a PUT by one of its URLs may still arrive, whatever became of the row. So the row stays that long,
 * and so does what lies under its key in `incoming/` (the bytes that arrived or, in place of bytes that a cancelled ticket
 * did not get, an empty object): by that S3 refuses every further PUT itself (`If-None-Match: *`).
 */

/** Names one file; of another account's id there is no row. */
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
  /** `uploads/<token>`, from which its link is made. */
  readonly objectKey: string;
  /** When it became ready. */
  readonly createdAt: number;
}

/** A file with its place in the listing: the newer, the higher. */
export interface ListedFile extends StoredFile {
  readonly seq: number;
}

/** Bytes on their way through us, to be charged when they are all here. */
export interface PendingUpload extends FileRef {
  readonly state: 'pending';
  readonly via: 'form';
  readonly objectKey: string;
  /** End of the lease of whoever is uploading. */
  readonly dueAt: number;
}

/** Leave to put bytes into the bucket directly; its size is charged already. */
export interface PendingTicket extends FileRef {
  readonly state: 'pending';
  readonly via: 'ticket';
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Base64 of 32 bytes. */
  readonly checksumSha256?: string;
  /** Public keys the bytes were copied to, or are being copied to, by attempts to complete it. */
  readonly attemptKeys: readonly string[];
  /** End of the lease of the attempt at work; absent when none is. */
  readonly attemptUntil?: number;
  /** With the ticket's `Idempotency-Key`, which settling has to answer for. */
  readonly idempotency?: IdempotencyClaim;
  /** When the slowest upload that is waited for has ended, whichever of its URLs it began with. */
  readonly ticketEndsAt: number;
  /** The same, unless a sweeper has taken the row. */
  readonly dueAt: number;
}

export interface ReadyFile extends ListedFile {
  readonly state: 'ready';
  readonly via: Via;
  /** Copies of attempts that lost, which the sweeper has yet to remove. */
  readonly attemptKeys: readonly string[];
  /** Of a direct upload, until the sweeper has removed what lies in `incoming/`. */
  readonly ticketEndsAt?: number;
}

/** What is no file any more (its size is given back), and whose objects have to go before the row. */
export interface LeftoverRow extends FileRef {
  /** `refused`: when it was completed, the account had as many files as it may; otherwise as `cancelled`. */
  readonly state: 'cancelled' | 'refused' | 'deleting';
  readonly via: Via;
  readonly objectKey?: string;
  readonly attemptKeys: readonly string[];
  readonly ticketEndsAt?: number;
}

/** A PUT by a URL of the row's ticket may still arrive. */
export function hasLiveTicket<Row extends FileRow>(row: Row, now: number): row is Row & { ticketEndsAt: number } {
  return 'ticketEndsAt' in row && row.ticketEndsAt !== undefined && row.ticketEndsAt > now;
}

/** What the bytes of a file came by, which decides what must be tidied up: a form sent to us, or a PUT to the bucket. */
export type Via = 'form' | 'ticket';
export type FileRow = PendingUpload | PendingTicket | ReadyFile | LeftoverRow;

/** What a request with an `Idempotency-Key` writes together with its effect. */
export interface IdempotencyClaim {
  readonly key: string;
  /** SHA-256 of what the request asks for, in hex. */
  readonly fingerprint: string;
  /** From when on the key stands for this, for 24 hours. */
  readonly claimedAt: number;
}

/** Some of an account's files, in the order of the list. */
export interface FilePage {
  readonly files: StoredFile[];
  /** Files in all, or all that match. */
  readonly total: number;
}
