import { SESSION_MAX_MS } from '../limits.ts';
import { type Cookie, cookieName, isSecureUrl, setCookie, soleCookie } from './cookies.ts';
import type { ApiResult } from './event.ts';
import { ok } from './response.ts';

/**
 * The session cookie of an app at a given address: `__Host-session` over https, `session` over http. It outlives the
 * idle time on purpose: when a session ends the server decides.
 */
const nameAt = (appUrl: string) => cookieName('session', isSecureUrl(appUrl));

/** The session token among a request's cookies. */
export function sessionTokenIn(cookies: readonly Cookie[], appUrl: string): string | undefined {
  return soleCookie(cookies, nameAt(appUrl));
}

/** The `Set-Cookie` that logs a browser in. */
export function sessionCookie(token: string, appUrl: string): string {
  return setCookie({ name: nameAt(appUrl), value: token }, { maxAgeMs: SESSION_MAX_MS, isSecure: isSecureUrl(appUrl) });
}

/** The `Set-Cookie` that makes a browser forget its session. */
export function noSessionCookie(appUrl: string): string {
  return setCookie({ name: nameAt(appUrl), value: '' }, { maxAgeMs: 0, isSecure: isSecureUrl(appUrl) });
}

/** The answer to a browser whose session has ended: it forgets its cookie. */
export function loggedOut(appUrl: string): ApiResult {
  return { ...ok({ logged_out: true }), multiValueHeaders: { 'Set-Cookie': [noSessionCookie(appUrl)] } };
}
