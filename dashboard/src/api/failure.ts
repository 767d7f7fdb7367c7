import { ERRORS, type ErrorCode } from '../../../shared/errors.ts';

/** No rate limit lasts longer than this: the service's own lasts a minute, that of its firewall five minutes. */
const LONGEST_RATE_WAIT_SECONDS = 600;

/**
 * `offline`: there was no answer. `unreadable`: the file was changed, moved or deleted since it was chosen. `day_used_up`: the
 * account has sent as many bytes as it may today; the user is told so at once, because waiting would take hours.
 */
export type FailureCode = ErrorCode | 'offline' | 'unreadable' | 'day_used_up';

/** The reason why a request failed. */
export class Failure extends Error {
  readonly code: FailureCode;
  /** The answer's `Retry-After` in seconds. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: FailureCode, retryAfterSeconds?: number) {
    super(code);
    this.name = 'Failure';
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** True when the same request may succeed soon. */
  get isTemporary(): boolean {
    if (this.code === 'unreadable' || this.code === 'day_used_up') return false;
    return this.code === 'offline' || this.code === 'rate_limit_exceeded' || ERRORS[this.code].status >= 500;
  }
}

/**
 * Makes a Failure from an error answer.
 * @param body  the parsed body; one that is not `{"error": …}` is not an answer of the service.
 * @param retryAfter  the `Retry-After` header.
 */
export function failureOf(body: unknown, retryAfter: string | null): Failure {
  const code = (body as { error?: string } | null)?.error;
  const isKnown = code !== undefined && Object.hasOwn(ERRORS, code);
  const seconds = Number(retryAfter ?? Number.NaN);
  if (code === 'rate_limit_exceeded' && seconds > LONGEST_RATE_WAIT_SECONDS) return new Failure('day_used_up', seconds);
  return new Failure(isKnown ? (code as ErrorCode) : 'service_unavailable', seconds > 0 ? seconds : undefined);
}
