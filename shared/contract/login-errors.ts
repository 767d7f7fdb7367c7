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
