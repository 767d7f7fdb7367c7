/**
 * The types of the API's JSON answers, which the functions use. `schemas.ts` compiles only if its schemas fit these types, and
 * the types of the TypeScript client are generated from those schemas.
 */

/** A file. It always has these six fields. */
export interface FileRecord {
  readonly id: string;
  readonly name: string;
  readonly mime_type: string;
  readonly size_bytes: number;
  readonly url: string;
  /** ISO 8601, UTC, like all times here. */
  readonly created_at: string;
}

/** One page of `GET /files`, newest first. */
export interface FilesPage {
  readonly items: readonly FileRecord[];
  /** From 1. */
  readonly page: number;
  readonly limit: number;
  /** The number of all files that match the search. */
  readonly total: number;
}

/**
 * The answer to `POST /uploads`: send the bytes to `upload.url` with `upload.headers`, then complete the upload. If an earlier upload with the
 * same `Idempotency-Key` is complete, it has the file instead. Both have one type, because many generators of clients know only one for
 * each operation.
 */
export interface UploadTicket {
  readonly id: string;
  readonly upload?: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
  };
  readonly expires_at?: string;
  readonly file?: FileRecord;
}

/** An API key, without its secret. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly key_prefix: string;
  readonly created_at: string;
  /** Null until the key is used; then accurate to the minute. */
  readonly last_used_at: string | null;
}

/** The answer to `GET /api-keys`, newest first. */
export interface ListOfKeys {
  readonly items: readonly ApiKey[];
}

/** The answer to the creation of a key: the only one that holds the secret. */
export interface ApiKeyWithSecret extends ApiKey {
  readonly key: string;
}

/** The person who is logged in (`GET /auth/me`). */
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

/** What the account uses and may use (`GET /usage`). */
export interface Usage {
  /** Bytes of files and of open direct uploads. */
  readonly storage_used_bytes: number;
  readonly storage_limit_bytes: number;
  readonly file_count: number;
  readonly file_count_limit: number;
  /** Bytes sent since midnight (UTC). */
  readonly sent_today_bytes: number;
  readonly sent_today_limit_bytes: number;
  /** The largest file that one upload may bring. */
  readonly upload_max_bytes: number;
}

/** The answer to the deletion of a file, the cancellation of a direct upload and the revocation of a key. */
export interface Deletion {
  readonly id: string;
  readonly deleted: true;
}

/** The answer to `GET /health`: 200 when all is `ok`, else 503. */
export interface Health {
  readonly status: 'ok' | 'degraded';
  readonly db: 'ok' | 'error';
  readonly storage: 'ok' | 'error';
}

/** A session: one browser that is logged in. */
export interface SessionOfAccount {
  readonly id: string;
  /** Such as `Firefox on Linux`. */
  readonly device: string;
  readonly created_at: string;
  /** The last use that was noted. A use is noted at most once an hour. */
  readonly last_used_at: string;
  /** True for the session that asks. */
  readonly current: boolean;
}

/** The answer to `GET /auth/sessions`, the newest login first. */
export interface ListOfSessions {
  readonly items: readonly SessionOfAccount[];
}

/** The answer to `POST /auth/logout` and to `DELETE /auth/sessions`. */
export interface LoggedOut {
  readonly logged_out: true;
}

/** The bodies of successful answers, by the names of their schemas. */
export interface Answers {
  readonly FileRecord: FileRecord;
  readonly FilesPage: FilesPage;
  readonly UploadTicket: UploadTicket;
  readonly ApiKey: ApiKey;
  readonly ApiKeys: ListOfKeys;
  readonly ApiKeyWithSecret: ApiKeyWithSecret;
  readonly Profile: Profile;
  readonly Usage: Usage;
  readonly Health: Health;
  readonly Deletion: Deletion;
  readonly LoggedOut: LoggedOut;
  readonly Session: SessionOfAccount;
  readonly Sessions: ListOfSessions;
}

export type AnswerName = keyof Answers;
