import type { LoggedOut } from '../contract/answers.ts';
import { SESSION_MAX_MS } from '../contract/limits.ts';
import { type ApiResult, ok } from './response.ts';

/** A cookie as the browser sent it. */
export interface Cookie {
  readonly name: string;
  readonly value: string;
}

/** RFC 6265, section 4.1.1: a token, and visible ASCII without quotes, comma, semicolon and backslash. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[!#-+\--:<-[\]-~]*$/;

/**
 * The cookies of a request, in the order sent; pairs that are not well formed are left out.
 * @param headers  every `Cookie` header: over HTTP/2 there may be several.
 */
export function parseCookies(headers: readonly string[]): Cookie[] {
  return headers
    .flatMap((header) => header.split(';'))
    .flatMap((pair) => {
      const equals = pair.indexOf('=');
      const name = pair.slice(0, Math.max(0, equals)).trim();
      const value = pair.slice(equals + 1).trim();
      return NAME.test(name) && VALUE.test(value) ? { name, value } : [];
    });
}

/**
 * The value of the one cookie of this name; undefined when there is none, or more than one. Names are case-sensitive.
 *
 * A browser sends two cookies of one name when another host of the same domain, or a page under another path, has set the second. We cannot
 * tell which is ours. If we tried both, we would accept the foreign cookie.
 */
export function soleCookie(cookies: readonly Cookie[], name: string): string | undefined {
  const [first, second] = cookies.filter((cookie) => cookie.name === name);
  return second ? undefined : first?.value;
}

/**
 * A `Set-Cookie` for this host alone. Scripts cannot read the cookie. Requests that other sites make do not carry it, except when a person
 * follows a link to this host.
 * @param maxAgeMs  a multiple of 1,000, because a cookie keeps whole seconds; 0 removes the cookie.
 * @param isSecure  false only where the site has no TLS, as under `npm start`.
 */
export function setCookie(
  { name, value }: Cookie,
  { maxAgeMs, isSecure }: { maxAgeMs: number; isSecure: boolean },
): string {
  return `${name}=${value}; Path=/; Max-Age=${maxAgeMs / 1_000}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
}

/**
 * The name under which a cookie is set. A browser accepts a name with `__Host-` only from this host itself, over TLS. So no other host of
 * the domain can set such a cookie. Without TLS browsers refuse that prefix. Source: RFC 6265bis, section 4.1.3.2.
 */
export function cookieName(name: string, isSecure: boolean): string {
  return isSecure ? `__Host-${name}` : name;
}

/** True where cookies can be `Secure`: everywhere but under `npm start`. */
export function isSecureUrl(appUrl: string): boolean {
  return appUrl.startsWith('https:');
}

/**
 * The name of the session cookie of an app at an address: `__Host-session` over https, `session` over http. The cookie lasts longer than a
 * session may be idle, because the server decides when a session ends.
 */
const sessionName = (appUrl: string) => cookieName('session', isSecureUrl(appUrl));

export function sessionTokenIn(cookies: readonly Cookie[], appUrl: string): string | undefined {
  return soleCookie(cookies, sessionName(appUrl));
}

/** The `Set-Cookie` that logs a browser in. */
export function sessionCookie(token: string, appUrl: string): string {
  return setCookie(
    { name: sessionName(appUrl), value: token },
    { maxAgeMs: SESSION_MAX_MS, isSecure: isSecureUrl(appUrl) },
  );
}

/** The `Set-Cookie` that removes a browser's session cookie. */
export function noSessionCookie(appUrl: string): string {
  return setCookie({ name: sessionName(appUrl), value: '' }, { maxAgeMs: 0, isSecure: isSecureUrl(appUrl) });
}

/** Makes an answer remove the session cookie of its browser. */
export function removingSessionCookie<Body extends object>(answer: ApiResult<Body>, appUrl: string): ApiResult<Body> {
  return { ...answer, multiValueHeaders: { 'Set-Cookie': [noSessionCookie(appUrl)] } };
}

/** The answer to a browser whose session has ended. */
export function loggedOut(appUrl: string): ApiResult<LoggedOut> {
  return removingSessionCookie(ok({ logged_out: true as const }), appUrl);
}
