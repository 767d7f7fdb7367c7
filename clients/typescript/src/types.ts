/** The shapes of the service's answers and errors. */

/** A stored file. */
export interface FileRecord {
  readonly id: string;
  readonly name: string;
  readonly mime_type: string;
  readonly size_bytes: number;
  /** The direct link. */
  readonly url: string;
  /** ISO 8601, UTC, like all times here. */
  readonly created_at: string;
}

/** One page of the list of files, newest first. */
export interface FilesPage {
  readonly items: readonly FileRecord[];
  /** From 1. */
  readonly page: number;
  readonly limit: number;
  /** The number of all files that match the search. */
  readonly total: number;
}

/** Permission to send the bytes of one file to the storage. */
export interface UploadTicket {
  readonly id: string;
  readonly upload: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
  };
  readonly expires_at: string;
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

/** The answer to the creation of a key: the only one that holds the secret. */
export interface NewApiKey extends ApiKey {
  readonly key: string;
}

/** The person who is logged in. */
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

/** The codes of the errors that the service answers with. */
export const SERVICE_ERROR_CODES = [
  'invalid_request',
  'unauthorized',
  'storage_limit_exceeded',
  'forbidden',
  'api_key_limit_exceeded',
  'not_found',
  'method_not_allowed',
  'upload_incomplete',
  'idempotency_conflict',
  'length_required',
  'file_too_large',
  'unsupported_media_type',
  'rate_limit_exceeded',
  'internal_error',
  'service_unavailable',
  'timeout',
] as const;

export type ServiceErrorCode = (typeof SERVICE_ERROR_CODES)[number];
