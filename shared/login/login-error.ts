import { ApiError } from '../errors.ts';

/** Every reason why a login ends without a session. The dashboard reads the code in `?error=`; codes are never renamed. */
export const LOGIN_ERRORS = {
  access_denied: 'The person cancelled the login at the identity provider.',
  expired: 'The login was not finished in time, or not in the browser that started it.',
  email_not_verified: 'The identity provider has not verified the e-mail address.',
  not_allowed: 'The allow-lists of the operator do not have this person, or the account is suspended.',
  unavailable: 'The identity provider or our own database could not be reached; trying again may help.',
  rate_limit_exceeded: 'More logins were started or finished from one network in a minute than the limit allows.',
  login_failed: 'Anything else, such as an answer of the identity provider that we cannot trust.',
} as const;

export type LoginErrorCode = keyof typeof LOGIN_ERRORS;

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
