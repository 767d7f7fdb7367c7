import type { ApiKey } from '../../../shared/api-keys/api-key.ts';
import type { FileRecord } from '../../../shared/files/file-record.ts';

export type { ApiKey, FileRecord };

/** One page of `GET /files`, newest first. */
export interface FilesPage {
  readonly items: readonly FileRecord[];
  /** From 1. */
  readonly page: number;
  readonly limit: number;
  /** Of all files that match the search. */
  readonly total: number;
}

/** Who is logged in (`GET /auth/me`). */
export interface Profile {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly picture_url: string | null;
  readonly created_at: string;
  readonly storage_used_bytes: number;
  readonly storage_limit_bytes: number;
  readonly file_count: number;
}

/** The answer to a key's creation, which alone holds the key itself. */
export interface NewApiKey extends ApiKey {
  readonly key: string;
}

/** The answer to the JSON form of `POST /files`: send the bytes there with those headers, then complete. */
export interface Ticket {
  readonly id: string;
  readonly upload: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
  };
  readonly expires_at: string;
}
