import { createHash, timingSafeEqual } from 'node:crypto';
import { LOGIN_ATTEMPT_MS } from '../contract/limits.ts';
import { type Cookie, cookieName, setCookie, soleCookie } from '../http/cookies.ts';
import { randomToken } from '../ids.ts';
import { LoginError } from './login-error.ts';

/**
 * The values that a browser must bring back to finish a login that it started. They are kept in a cookie of that browser. (The prefix
 * `__Host-` keeps other sites from setting such a cookie.) So an attacker cannot make a person finish a login that the attacker has
 * started.
 */
export interface LoginAttempt {
  /** The browser takes this value to the provider, and must bring it back. */
  readonly state: string;
  /** Proves to the provider that the client that uses the code is the one that asked for it (PKCE). */
  readonly codeVerifier: string;
  /** The ID token must hold this value, which shows that the token was made for this attempt. */
  readonly nonce: string;
  readonly startedAt: number;
}

/** How many attempts a browser may have open, for example in several tabs. Each adds a cookie of 200 bytes to every request. */
const OPEN_MAX = 5;
const SECRET_BITS = 256;
const VALUE = /^([0-9A-Za-z]{43})\.([0-9A-Za-z]{43})\.([0-9A-Za-z]{43})\.(\d{1,12})$/;

export function newAttempt(now: number): LoginAttempt {
  const [state, codeVerifier, nonce] = [randomToken(SECRET_BITS), randomToken(SECRET_BITS), randomToken(SECRET_BITS)];
  return { state, codeVerifier, nonce, startedAt: now };
}

/** The `Set-Cookie`s that keep an attempt, and remove the oldest attempts when `cookies` already holds too many. */
export function keepAttempt(attempt: LoginAttempt, cookies: readonly Cookie[], isSecure: boolean): string[] {
  const { state, codeVerifier, nonce, startedAt } = attempt;
  const value = [state, codeVerifier, nonce, Math.floor(startedAt / 1_000)].join('.');
  // A browser sends older cookies first. Source: RFC 6265, section 5.4.
  const oldest = openAttempts(cookies, isSecure).slice(0, -(OPEN_MAX - 1));
  return [
    setCookie({ name: nameOf(state, isSecure), value }, { maxAgeMs: LOGIN_ATTEMPT_MS, isSecure }),
    ...oldest.map((name) => forget(name, isSecure)),
  ];
}

/**
 * Finds the attempt that `state` belongs to.
 * @throws LoginError `expired` when the browser has no cookie for this state, or the attempt is too old; `login_failed` when
 *   there is no state, or the cookie holds another one.
 */
export function findAttempt(
  state: string | undefined,
  cookies: readonly Cookie[],
  { isSecure, now }: { isSecure: boolean; now: number },
): LoginAttempt {
  if (state === undefined) throw new LoginError('login_failed', 'no state');
  const value = soleCookie(cookies, nameOf(state, isSecure));
  if (value === undefined) throw new LoginError('expired', 'no cookie for this state');
  const [, kept = '', codeVerifier = '', nonce = '', startedAtSeconds = '0'] = VALUE.exec(value) ?? [];
  if (!isSame(kept, state)) throw new LoginError('login_failed', 'state of another attempt');
  const startedAt = Number(startedAtSeconds) * 1_000;
  if (now - startedAt > LOGIN_ATTEMPT_MS) throw new LoginError('expired', 'the attempt is too old');
  return { state, codeVerifier, nonce, startedAt };
}

/**
 * The `Set-Cookie`s that end the attempt of `state`, so that it cannot be tried twice. Any page can redirect the browser to
 * our callback, so a `state` that belongs to no attempt ends none.
 */
export function forgetAttempt(state: string | undefined, cookies: readonly Cookie[], isSecure: boolean): string[] {
  if (state === undefined) return [];
  const meant = openAttempts(cookies, isSecure).filter((name) => name === nameOf(state, isSecure));
  return meant.map((name) => forget(name, isSecure));
}

/** The name of an attempt's cookie, which does not reveal its state. */
function nameOf(state: string, isSecure: boolean): string {
  return `${namePrefix(isSecure)}${createHash('sha256').update(state).digest('hex').slice(0, 16)}`;
}

const namePrefix = (isSecure: boolean) => cookieName('login-', isSecure);

function openAttempts(cookies: readonly Cookie[], isSecure: boolean): string[] {
  const names = cookies.map(({ name }) => name).filter((name) => name.startsWith(namePrefix(isSecure)));
  return [...new Set(names)];
}

function forget(name: string, isSecure: boolean): string {
  return setCookie({ name, value: '' }, { maxAgeMs: 0, isSecure });
}

function isSame(a: string, b: string): boolean {
  // A browser may send any characters, and some take several bytes.
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}
