import type { LoginErrorCode } from '../contract/login-errors.ts';
import { ApiError } from '../errors.ts';

/** A login that ends without a session. The message is only for the log, and holds no secret and no claim. */
export class LoginError extends Error {
  readonly code: LoginErrorCode;
  /** True when the login failed because of the service, its settings or the identity provider. */
  readonly isOurFailure: boolean;

  constructor(code: LoginErrorCode, detail: string, { isOurFailure = code === 'unavailable' } = {}) {
    super(detail);
    this.name = 'LoginError';
    this.code = code;
    this.isOurFailure = isOurFailure;
  }
}

/**
 * True when a login ended because of the service, its settings or the identity provider. False when it ended because of the person or the
 * browser. The alarm LoginFailures counts the logins for which this is true.
 */
export function isOurFailure(cause: unknown): boolean {
  if (cause instanceof LoginError) return cause.isOurFailure;
  return !(cause instanceof ApiError) || cause.status >= 500;
}

/** The code for any error that ended a login. */
export function loginErrorCodeOf(cause: unknown): LoginErrorCode {
  if (cause instanceof LoginError) return cause.code;
  if (!(cause instanceof ApiError)) return 'login_failed';
  switch (cause.code) {
    case 'rate_limit_exceeded':
      return cause.code;
    // A login first writes the account, and then the session. The account was suspended or deleted between these two writes.
    case 'unauthorized':
      return 'not_allowed';
    case 'service_unavailable':
    case 'timeout':
      return 'unavailable';
    default:
      return 'login_failed';
  }
}
