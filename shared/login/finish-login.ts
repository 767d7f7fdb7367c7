import { type AccountStore, upsertAccountAtLogin } from '../accounts/account.ts';
import type { LoginErrorCode } from '../contract/login-errors.ts';
import { type Cookie, isSecureUrl, sessionCookie, sessionTokenIn } from '../http/cookies.ts';
import { endSession, hashToken, type SessionStore, sessionIdOf, startSession } from '../sessions/session.ts';
import { type AllowList, accountIdOf, isAllowed, verifyIdToken } from './identity.ts';
import { findAttempt, forgetAttempt } from './login-attempt.ts';
import { isOurFailure, LoginError, loginErrorCodeOf } from './login-error.ts';
import { exchangeCode } from './oauth-client.ts';
import { issuerSpellings, type LoginProvider } from './provider.ts';
import type { LoginRedirect } from './start-login.ts';

export interface LoginSetting {
  readonly provider: LoginProvider;
  readonly clientSecret: string;
  readonly appUrl: string;
  readonly allowed: AllowList;
  readonly accounts: AccountStore;
  readonly sessions: SessionStore;
}

/** What the browser brings back from the identity provider. */
export interface LoginCallback {
  /** Every value of each query parameter. */
  readonly parameters: Readonly<Record<string, readonly string[] | undefined>>;
  readonly cookies: readonly Cookie[];
  /** The browser's description of itself; empty when it sends none. */
  readonly userAgent: string;
}

/** The session that a login has begun, for the audit trail. */
interface BegunSession {
  readonly accountId: string;
  readonly session: string;
  /** The session that this browser had before, which has ended. */
  readonly replacedSession?: string;
}

export interface LoginOutcome extends LoginRedirect {
  /** Absent when no session has begun. */
  readonly begun?: BegunSession;
  /** Why the browser has no session; absent when it has one. `cause` is for the log; for `isOurFailure` see login-error.ts. */
  readonly refusal?: { readonly code: LoginErrorCode; readonly cause: unknown; readonly isOurFailure: boolean };
}

/**
 * Finishes a login: redirects the browser to the dashboard with a session, or to the login page with a code of `LOGIN_ERRORS`. A callback
 * that comes again redirects a browser with a session to the dashboard, and changes nothing. The browser is never redirected to another address, whatever it sent. The attempt is over in both cases.
 *
 * If we die between the writes, an account without a session is left, or a session whose token no browser has. Neither does harm, and the
 * person can log in again.
 */
export async function finishLogin(
  setting: LoginSetting,
  callback: LoginCallback,
  clock: () => number = Date.now,
): Promise<LoginOutcome> {
  const { appUrl } = setting;
  const state = parameter(callback, 'state');
  const over = forgetAttempt(state, callback.cookies, isSecureUrl(appUrl));
  try {
    requireEachOnce(callback);
    // A callback without an attempt has nothing to finish. A browser that is logged in has reloaded it, or gone back to it.
    if (over.length === 0 && (await isLoggedIn(setting, callback, clock))) {
      return { location: `${appUrl}/dashboard`, cookies: [] };
    }
    const { token, ...begun } = await logIn(setting, callback, clock);
    return { location: `${appUrl}/dashboard`, cookies: [sessionCookie(token, appUrl), ...over], begun };
  } catch (cause) {
    const code = loginErrorCodeOf(cause);
    const refusal = { code, cause, isOurFailure: isOurFailure(cause) };
    return { location: `${appUrl}/dashboard/login?error=${code}`, cookies: over, refusal };
  }
}

async function isLoggedIn(
  { sessions, appUrl }: LoginSetting,
  { cookies }: LoginCallback,
  clock: () => number,
): Promise<boolean> {
  const tokenHash = hashToken(sessionTokenIn(cookies, appUrl) ?? '');
  const session = tokenHash && (await sessions.find(tokenHash));
  return session ? session.expiresAt > clock() : false;
}

/** Checks the callback, and makes the session. */
async function logIn(
  setting: LoginSetting,
  callback: LoginCallback,
  clock: () => number,
): Promise<BegunSession & { readonly token: string }> {
  const { provider, clientSecret, appUrl, allowed, accounts, sessions } = setting;
  const attempt = findAttempt(parameter(callback, 'state'), callback.cookies, {
    isSecure: isSecureUrl(appUrl),
    now: clock(),
  });
  const code = codeFrom(callback, provider);
  const idToken = await exchangeCode(provider, appUrl, { code, codeVerifier: attempt.codeVerifier, clientSecret });
  const identity = await verifyIdToken(idToken, { provider, nonce: attempt.nonce, now: clock() });
  if (!isAllowed(identity, allowed, provider)) throw new LoginError('not_allowed', 'on none of the allow-lists');

  const { subject, email, name, pictureUrl } = identity;
  const id = accountIdOf(provider.issuer, subject);
  const account = await upsertAccountAtLogin(accounts, { id, email, name, ...(pictureUrl && { pictureUrl }) }, clock);
  if (account.isSuspended) throw new LoginError('not_allowed', 'the account is suspended');

  const oldToken = sessionTokenIn(callback.cookies, appUrl);
  const ended = oldToken === undefined ? undefined : await endSession(sessions, oldToken);
  const token = await startSession(sessions, { accountId: id, userAgent: callback.userAgent }, clock);
  const replaced = ended === undefined ? {} : { replacedSession: sessionIdOf(ended) };
  return { token, accountId: id, session: sessionIdOf(hashToken(token) ?? ''), ...replaced };
}

/** The code that the provider sent with the browser. @throws LoginError when it sent an error, or another issuer answered. */
function codeFrom(callback: LoginCallback, provider: LoginProvider): string {
  // RFC 9207: when the answer names its issuer, that issuer must be the provider to which we sent the browser.
  const issuer = parameter(callback, 'iss');
  if (issuer !== undefined && !issuerSpellings(provider).includes(issuer)) {
    throw new LoginError('login_failed', 'an answer of another issuer');
  }
  const error = parameter(callback, 'error');
  if (error === 'access_denied') throw new LoginError('access_denied', 'refused at the provider');
  const code = parameter(callback, 'code');
  if (error !== undefined || code === undefined) throw new LoginError('login_failed', 'the provider sent no code');
  return code;
}

/** When a parameter is repeated, it is unclear which value is meant. Source: RFC 6749, section 3.1. @throws LoginError */
function requireEachOnce({ parameters }: LoginCallback): void {
  const isRepeated = Object.values(parameters).some((values = []) => values.length > 1);
  if (isRepeated) throw new LoginError('login_failed', 'a repeated parameter');
}

/** A parameter that came exactly once and is not empty. */
function parameter({ parameters }: LoginCallback, name: string): string | undefined {
  const [first, second] = parameters[name] ?? [];
  return second === undefined && first ? first : undefined;
}
