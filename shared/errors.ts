/**
 * Every error that the service answers with. The body is exactly `{"error": "<code>"}` (only the 503 of `/health` has its own);
 * codes are never renamed. The table of errors in `docs/api.md` is generated from this object.
 */
export const ERRORS = {
  invalid_request: { status: 400, meaning: 'The request is malformed: body, parameter, header or form.' },
  unauthorized: { status: 401, meaning: 'No valid API key or session came with the request.' },
  storage_limit_exceeded: {
    status: 403,
    meaning: 'The account has no room for the file: its storage or its number of files is at the limit.',
  },
  forbidden: {
    status: 403,
    meaning:
      'A cookie request that changes state came from another site, or a request bypassed the address of the service.',
  },
  api_key_limit_exceeded: { status: 403, meaning: 'The account has the maximum number of API keys.' },
  not_found: { status: 404, meaning: 'Unknown route, unknown id, or an id of another account.' },
  method_not_allowed: {
    status: 405,
    meaning: 'The route exists, but not with this method; `Allow` lists the ones it has.',
  },
  upload_incomplete: { status: 409, meaning: 'The bytes of a direct upload have not arrived yet.' },
  idempotency_conflict: {
    status: 409,
    meaning:
      'The `Idempotency-Key` was used for another file, or for the same file by the other kind of upload (form, ticket).',
  },
  length_required: { status: 411, meaning: 'Only a multipart body may come without a `Content-Length`.' },
  file_too_large: {
    status: 413,
    meaning:
      'The file is larger than `MAX_UPLOAD_SIZE_BYTES`. Or the body of a request without a file is too large: JSON over 64 KiB, any other over 4 MiB.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body is of a `Content-Type` that this route does not take, or has a `Content-Encoding`.',
  },
  rate_limit_exceeded: {
    status: 429,
    meaning:
      'Too many requests in a minute, too many bytes in a day, or too many large forms at the same time; `Retry-After` says how long to wait.',
  },
  internal_error: { status: 500, meaning: 'A fault of the service; the log has the cause, under the `X-Request-Id`.' },
  service_unavailable: {
    status: 503,
    meaning: 'A dependency is down or busy; try again after `Retry-After` seconds.',
  },
  timeout: { status: 504, meaning: 'The request took longer than the service allows.' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** How long a client must wait when a dependency is down or busy, or throttles our calls. */
const RETRY_AFTER_SECONDS = 1;

/** The numbers that explain an error, for the log. Each name says its unit. */
export type ErrorFacts = Readonly<
  Partial<
    Record<
      | 'bytes'
      | 'expected_bytes'
      | 'limit_bytes'
      | 'used_bytes'
      | 'sent_today_bytes'
      | 'limit_today_bytes'
      | 'file_count'
      | 'file_count_limit'
      | 'key_count_limit'
      | 'requests_per_minute',
      number
    >
  >
>;

interface ErrorOptions {
  /** Response headers that belong to this error, such as `Retry-After` or `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Only for the log. */
  readonly cause?: unknown;
  /** Only for the log. It never repeats what the client sent. */
  readonly detail?: string;
  /** Only for the log. */
  readonly facts?: ErrorFacts;
}

/**
 * An error whose code is the answer to the client; `message`, `facts` and `cause` go only to the log. To make a `service_unavailable`,
 * call {@link serviceUnavailable}. The constructor adds `Retry-After` to every `service_unavailable` that has none.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  /** Response headers that belong to this error. */
  readonly headers: Readonly<Record<string, string>>;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, { headers, cause, detail, facts = {} }: ErrorOptions = {}) {
    super(detail ?? code, { cause });
    this.name = 'ApiError';
    this.code = code;
    this.facts = facts;
    this.headers = {
      ...(code === 'service_unavailable' && { 'Retry-After': String(RETRY_AFTER_SECONDS) }),
      ...headers,
    };
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/**
 * The error `service_unavailable` (503), for a request that may succeed when it is tried again.
 * @param options.cause  only for the log, like `options.detail`.
 * @param options.retryAfterSeconds  how long the client must wait; a second by default.
 */
export function serviceUnavailable({
  retryAfterSeconds = RETRY_AFTER_SECONDS,
  ...reason
}: Pick<ErrorOptions, 'cause' | 'detail'> & { readonly retryAfterSeconds?: number } = {}): ApiError {
  return new ApiError('service_unavailable', { ...reason, headers: { 'Retry-After': String(retryAfterSeconds) } });
}

/** True for a `service_unavailable`: a dependency failed, and another attempt may succeed. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'service_unavailable';
}

/** The error for the client: an {@link ApiError} that was thrown stays as it is, and everything else becomes `internal_error`. */
export function asApiError(thrown: unknown): ApiError {
  return thrown instanceof ApiError ? thrown : new ApiError('internal_error', { cause: thrown });
}

/** For `.catch(…)` of a promise: turns the error `not_found` into undefined, and rethrows every other error. */
export function undefinedIfNotFound(error: unknown): undefined {
  if (!(error instanceof ApiError && error.code === 'not_found')) throw error;
}
