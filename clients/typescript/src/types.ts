// Made by `npm run generate` from the OpenAPI document of the service.

/** A file. It always has these six fields. */
export interface FileRecord {
  readonly id: string;
  /**
   * The name that the client sent, in Unicode NFC, without folders, control characters and spaces around it, cut to 255
   * bytes of UTF-8 before its ending. A name with nothing visible becomes `file`, with the ending of the type.
   */
  readonly name: string;
  /** The media type. */
  readonly mime_type: string;
  /** The size, in bytes. */
  readonly size_bytes: number;
  /**
   * The direct link, without a key, until the file is deleted. It takes `Range`, and pages of every origin may use it.
   * Types that cannot run scripts are shown, others are saved; `?download` always saves.
   */
  readonly url: string;
  /** When the upload was complete (ISO 8601, UTC). */
  readonly created_at: string;
}

/** One page of files, newest first. */
export interface FilesPage {
  readonly items: readonly FileRecord[];
  /** The page number, from 1. */
  readonly page: number;
  /** The number of files on a full page. */
  readonly limit: number;
  /** The number of all files that match the search. */
  readonly total: number;
}

/**
 * A direct upload. Send the bytes to `upload.url` with `upload.method` and `upload.headers`, then complete the upload.
 * If `file` is there instead, the upload is complete.
 */
export interface UploadTicket {
  readonly id: string;
  /**
   * The request that sends the bytes. It takes no API key. It may be repeated: 412 means that S3 has the bytes already
   * (or that the upload was cancelled), so complete the upload; 409 that another request is sending them, so repeat it
   * later.
   */
  readonly upload?: {
    readonly method: string;
    /** A presigned URL of S3. Its errors are XML of S3. */
    readonly url: string;
    /**
     * The headers to send with the bytes, besides those that the HTTP client sends by itself. One of those must be
     * `Content-Length`, with the announced size: a chunked body is refused.
     */
    readonly headers: Readonly<Record<string, string>>;
  };
  /** The PUT must begin before this time (ISO 8601, UTC). */
  readonly expires_at?: string;
  readonly file?: FileRecord;
}

/** An API key, without its secret. */
export interface ApiKey {
  readonly id: string;
  /** The name that its owner gave it. */
  readonly name: string;
  /** The first characters of the key, to tell keys apart. */
  readonly key_prefix: string;
  /** When the key was made (ISO 8601, UTC). */
  readonly created_at: string;
  /** When the key was last used, accurate to the minute; null until its first use. */
  readonly last_used_at: string | null;
}

/** The API keys of the account, newest first. */
export interface ApiKeys {
  readonly items: readonly ApiKey[];
}

/** A new API key, with its secret, which is shown only now. */
export interface ApiKeyWithSecret {
  readonly id: string;
  /** The name that its owner gave it. */
  readonly name: string;
  /** The first characters of the key, to tell keys apart. */
  readonly key_prefix: string;
  /** When the key was made (ISO 8601, UTC). */
  readonly created_at: string;
  /** When the key was last used, accurate to the minute; null until its first use. */
  readonly last_used_at: string | null;
  /** The secret: send it as `Authorization: Bearer <key>`. */
  readonly key: string;
}

/** The person who is logged in. */
export interface Profile {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly picture_url: string | null;
  /** When the account was made, by its first login (ISO 8601, UTC). */
  readonly created_at: string;
  /** What files and open direct uploads use, in bytes. */
  readonly storage_used_bytes: number;
  /** The storage of the account, in bytes. */
  readonly storage_limit_bytes: number;
  /** The number of files. */
  readonly file_count: number;
}

/** What the account uses, and what it may use. */
export interface Usage {
  /** What files and open direct uploads use, in bytes. */
  readonly storage_used_bytes: number;
  /** The storage of the account, in bytes. */
  readonly storage_limit_bytes: number;
  /** The number of files. */
  readonly file_count: number;
  /** The number of files that the account may have. */
  readonly file_count_limit: number;
  /** What the account has sent since midnight (UTC), whether or not it was stored, in bytes. */
  readonly sent_today_bytes: number;
  /** What the account may send in a day (UTC), in bytes. */
  readonly sent_today_limit_bytes: number;
  /** The largest file that one upload may bring, in bytes. */
  readonly upload_max_bytes: number;
}

/** The state of the service. */
export interface Health {
  readonly status: 'ok' | 'degraded';
  /** The state of the database. */
  readonly db: 'ok' | 'error';
  /** The state of the storage. */
  readonly storage: 'ok' | 'error';
}

/** What was deleted. */
export interface Deletion {
  readonly id: string;
  /** Always true. */
  readonly deleted: boolean;
}

/** The session has ended. */
export interface LoggedOut {
  /** Always true. */
  readonly logged_out: boolean;
}

/** A session: one browser that is logged in. */
export interface Session {
  readonly id: string;
  /**
   * The browser and the system, as the browser named them at the login. `Unknown device` if it named neither in a way
   * that the service knows.
   */
  readonly device: string;
  /** When the browser was logged in (ISO 8601, UTC). */
  readonly created_at: string;
  /** When the session was last used. The last use may be up to an hour later (ISO 8601, UTC). */
  readonly last_used_at: string;
  /** True for the session that asks. */
  readonly current: boolean;
}

/** The sessions of the account that have not ended, the newest login first. */
export interface Sessions {
  readonly items: readonly Session[];
}

/** What a direct upload will send. */
export interface TicketRequest {
  /** The name of the file. The file has it as `FileRecord` says. */
  readonly name: string;
  /**
   * The media type of the file. If it is none, or says nothing, such as `application/octet-stream`, the ending of the
   * name decides.
   */
  readonly mime_type: string;
  /** The exact size of the file, in bytes. A size above the limit is `file_too_large`. */
  readonly size_bytes: number;
  /** The SHA-256 of the file, in base64. S3 then takes no other bytes. */
  readonly checksum_sha256?: string | null;
}

/** What the new key is called. */
export interface CreateKeyRequest {
  /**
   * A name on one line, with something visible. It has no control characters, line breaks, or characters that change
   * the direction of text (U+202A to U+202E, U+2066 to U+2069).
   */
  readonly name: string;
}

/** The codes of the errors that the service answers with. */
export type ServiceErrorCode =
  | 'invalid_request'
  | 'unauthorized'
  | 'storage_limit_exceeded'
  | 'forbidden'
  | 'api_key_limit_exceeded'
  | 'not_found'
  | 'method_not_allowed'
  | 'upload_incomplete'
  | 'idempotency_conflict'
  | 'length_required'
  | 'file_too_large'
  | 'unsupported_media_type'
  | 'rate_limit_exceeded'
  | 'internal_error'
  | 'service_unavailable'
  | 'timeout';
