import { ERRORS, type ErrorCode } from './contract/errors.ts';

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
  /** For the log, and below 500 for the client. It never repeats what the client sent, and names no secret or path of ours. */
  readonly detail?: string;
  /** As `detail`. */
  readonly facts?: ErrorFacts;
}

/**
 * An error whose code is the answer to the client. Below 500 the client also gets `message` and `facts`; `cause` goes only to the log. To make
 * a `service_unavailable`, call {@link serviceUnavailable}. The constructor adds `Retry-After` to every `service_unavailable` that has none.
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
