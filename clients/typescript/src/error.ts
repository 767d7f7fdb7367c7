import type { ServiceErrorCode } from './types.ts';

/**
 * The code of an error: one of the service, or one of the client itself:
 * - `network_error`: there was no complete answer.
 * - `stalled`: no byte moved for {@link ClientOptions.stallSeconds}.
 * - `aborted`: the `signal` of the call was aborted.
 * - `invalid_response`: the answer is not one of the service, for example the page of a proxy.
 * - `unreadable`: the content could not be read, or changed while it was read.
 * - `invalid_argument`: the call is wrong; nothing was stored.
 * A newer service may answer with a code that is in neither list.
 */
export type ErrorCode =
  | ServiceErrorCode
  | 'network_error'
  | 'stalled'
  | 'aborted'
  | 'invalid_response'
  | 'unreadable'
  | 'invalid_argument';

/** The longest wait for a rate limit. A longer `Retry-After` lasts until midnight UTC, and means that the bytes of the day are used up. */
export const LONGEST_WAIT_SECONDS = 600;

/** What happened, and what to do about it. For the codes of the service that are not here, see {@link wordsFor}. */
const WORDS = {
  invalid_request: ['The service does not accept the request', 'Check the parameters of the call.'],
  unauthorized: ['The API key or session is not valid', 'Create an API key in the dashboard, or log in again.'],
  storage_limit_exceeded: ['The account has no room for the file', 'Delete files that are not needed any more.'],
  forbidden: [
    'The request is not allowed',
    'Use the address of the service itself. If you use a session, call it from a page of the service.',
  ],
  api_key_limit_exceeded: [
    'The account has the maximum number of API keys',
    'Revoke a key that is not needed any more.',
  ],
  not_found: ['There is no such thing in this account', 'Check the id, and the account that the key belongs to.'],
  upload_incomplete: ['The bytes of the upload have not arrived', 'Upload the file again.'],
  idempotency_conflict: ['The idempotency key was used for another file', 'Use a new idempotency key for each file.'],
  file_too_large: ['The file is larger than the service accepts', 'Make the file smaller, or split it.'],
  rate_limit_exceeded: ['Too many requests', 'Wait as long as `retryAfter` says, then try again.'],
  internal_error: ['The service failed', 'Try again; if it goes on, tell the operator the request id.'],
  service_unavailable: ['The service is busy or down', 'Try again in a minute.'],
  network_error: ['The connection failed', 'Check the connection and the url of the service, then try again.'],
  stalled: ['The connection moves no bytes', 'Check the connection, then try again.'],
  aborted: ['The call was aborted', 'Nothing needs to be done.'],
  invalid_response: [
    'The answer is not one of the service',
    'Check the url of the service, and the proxy between you and it.',
  ],
  unreadable: [
    'The content could not be read to its end, or changed meanwhile',
    'Check that it still exists, then upload it again, or a copy of it.',
  ],
  invalid_argument: ['The call is wrong', 'Correct the call.'],
} satisfies Partial<Record<ErrorCode, Words>>;

type Words = readonly [what: string, advice: string];

/** An error that has no words of its own gets those of its status. The service itself says more in the detail of a refusal. */
function wordsFor(code: ErrorCode, status = 0): Words {
  if (Object.hasOwn(WORDS, code)) return WORDS[code as keyof typeof WORDS];
  return status < 500 ? WORDS.invalid_request : WORDS.internal_error;
}

/** The codes that are temporary whatever the status of the answer: there was none, or the storage answered. */
const TEMPORARY: readonly ErrorCode[] = ['service_unavailable', 'network_error', 'stalled'];

export interface ErrorDetails {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
  /** What happened, instead of the words for the code. */
  readonly what?: string | undefined;
  /** Why the service has refused the request, in its own words. */
  readonly detail?: string | null | undefined;
  /** What to do, instead of the words for the code. */
  readonly advice?: string | undefined;
  /** True when the same request cannot succeed soon, although errors with this code are usually temporary. */
  readonly isFinal?: boolean | undefined;
}

/** The one error of this client. */
export class FileHostingError extends Error {
  readonly code: ErrorCode;
  /** The status of the answer; undefined when there was none. */
  readonly status: number | undefined;
  /** The id under which the operator finds the request. */
  readonly requestId: string | undefined;
  /** How many seconds to wait before another attempt, if the answer said so. */
  readonly retryAfter: number | undefined;
  /**
   * The id of the unfinished upload that a call with an `idempotencyKey` of the caller has left in the service. The same call continues
   * this upload; `cancel(uploadId)` frees the storage that is reserved for it.
   */
  readonly uploadId: string | undefined = undefined;
  /** What a person should do, in a sentence or two. */
  readonly advice: string;
  readonly #isFinal: boolean;

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    const { status, requestId, retryAfter, cause, what, detail, advice, isFinal = false } = details;
    const isDayUsedUp = code === 'rate_limit_exceeded' && (retryAfter ?? 0) > LONGEST_WAIT_SECONDS;
    const [usual, usualAdvice] = isDayUsedUp
      ? ['The account has used up its bytes of the day', 'Try again after midnight UTC.']
      : wordsFor(code, status);
    super(`${what ?? usual}${detail ? `: ${detail}` : ''} (${[code, status].filter(Boolean).join(', ')}).`, { cause });
    this.name = 'FileHostingError';
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
    this.advice = advice ?? usualAdvice;
    this.#isFinal = isFinal;
  }

  /**
   * True when the same request may succeed soon. Except after `rate_limit_exceeded`, the outcome of this request is unknown: an upload may
   * have made its file, or may still make it. The same upload with the same `idempotencyKey` gives this file.
   */
  get isTemporary(): boolean {
    if (this.#isFinal || (this.retryAfter ?? 0) > LONGEST_WAIT_SECONDS) return false;
    // A 2xx whose body cannot be parsed was cut off on its way.
    const { code, status = 0 } = this;
    const isCutOff = code === 'invalid_response' && status < 300;
    return isCutOff || status === 429 || status >= 500 || TEMPORARY.includes(code);
  }
}

/** Why a browser opens no path. */
export const NO_PATHS = 'A path cannot be opened in a browser; give a File or Blob';

export function invalid(what: string): FileHostingError {
  return new FileHostingError('invalid_argument', { what });
}

/** @throws FileHostingError `aborted`. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError(signal);
}

export function abortedError(signal: AbortSignal): FileHostingError {
  return new FileHostingError('aborted', { cause: signal.reason });
}
