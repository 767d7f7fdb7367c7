import { ERRORS, type ErrorCode } from '../../../shared/errors.ts';

/**
 * A rate limit never lasts longer: the service's own is a minute, that of a firewall before it five minutes.
 */
const LONGEST_RATE_WAIT_SECONDS = 600;

/**
 * `offline`: no answer came at all. `unreadable`: the file to send is not what it was when it was chosen. `day_used_up`: the
 * account has sent as many bytes today as it may, which a person is told rather than made to wait for hours.
 */
export type FailureCode = ErrorCode | 'offline' | 'unreadable' | 'day_used_up';

/** Why a request did not do what it was for. */
export class Failure extends Error {
  readonly code: FailureCode;
  /** How long the service asks us to wait, in seconds. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: FailureCode, retryAfterSeconds?: number) {
    super(code);
    this.name = 'Failure';
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** True when the same request may succeed a little later. */
  get isPassing(): boolean {
    if (this.code === 'unreadable' || this.code === 'day_used_up') return false;
    return this.code === 'offline' || this.code === 'rate_limit_exceeded' || ERRORS[this.code].status >= 500;
  }
}

/**
 * @param body  of an answer; what is not `{"error": …}` came from no layer of ours.
 * @param retryAfter  the `Retry-After` header.
 */
export function failureOf(body: unknown, retryAfter: string | null): Failure {
  const code = (body as { error?: string } | null)?.error;
  const isKnown = code !== undefined && Object.hasOwn(ERRORS, code);
  const seconds = Number(retryAfter ?? Number.NaN);
  if (code === 'rate_limit_exceeded' && seconds > LONGEST_RATE_WAIT_SECONDS) return new Failure('day_used_up', seconds);
  return new Failure(isKnown ? (code as ErrorCode) : 'service_unavailable', seconds > 0 ? seconds : undefined);
}
