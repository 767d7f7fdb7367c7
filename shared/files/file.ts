/**
 * A file, and the states its row goes through:
 *
 * ```
 * multipart:  pending ──settle──▶ ready ──delete──▶ deleting ──▶ (gone)
 *                └───────give up──────────────────────▲
 * direct:     pending ──settle──▶ ready ──delete──▶ deleting ──▶ (gone)
 *                ├───────expire───────────────────────▲
 *                └───────cancel──▶ cancelled ──ticket's deadline──▶ (gone)
 * ```
 * Every row that is not simply ready has a deadline, at which the sweeper finds it and finishes what was begun. Times are
 * epoch milliseconds.
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
  readonly lane: 'multipart';
  readonly objectKey: string;
  /** End of the lease of whoever is uploading. */
  readonly dueAt: number;
}

/** Leave to put bytes into the bucket directly; its size is charged already. */
export interface PendingTicket extends FileRef {
  readonly state: 'pending';
  readonly lane: 'direct';
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Base64 of 32 bytes. */
  readonly checksumSha256?: string;
  /** Public keys the bytes were copied to, or are being copied to, by those who try to settle it. */
  readonly attemptKeys: readonly string[];
  /** With the ticket's `Idempotency-Key`, which settling has to answer for. */
  readonly idempotency?: IdempotencyClaim;
  readonly dueAt: number;
}

export interface ReadyFile extends ListedFile {
  readonly state: 'ready';
  readonly lane: Lane;
  /** Copies of attempts that lost, which the sweeper has yet to remove. */
  readonly attemptKeys: readonly string[];
}

/** What is no file any more (its size is given back), and whose objects have to go before the row. */
export interface LeftoverRow extends FileRef {
  readonly state: 'cancelled' | 'deleting';
  readonly lane: Lane;
  readonly objectKey?: string;
  readonly attemptKeys: readonly string[];
}

export type Lane = 'multipart' | 'direct';
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
