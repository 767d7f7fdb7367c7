import type { StoredFile } from './file.ts';

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
