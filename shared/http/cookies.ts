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
 * The value of the one cookie of this name; undefined when there is none, or more than one. Names differ by case.
 *
 * A browser sends two of a name when another site of the same domain, or another path, planted one. Which is ours
 * cannot be told, and trying each would let the planted one in.
 */
export function soleCookie(cookies: readonly Cookie[], name: string): string | undefined {
  const [first, second] = cookies.filter((cookie) => cookie.name === name);
  return second ? undefined : first?.value;
}

/**
 * A `Set-Cookie` for this host alone, out of reach of scripts and of requests that other sites make, except when a
 * person follows a link here.
 * @param maxAgeMs  in whole seconds; 0 takes the cookie away.
 * @param isSecure  false only where the site has no TLS, on one's own machine.
 */
export function setCookie(
  { name, value }: Cookie,
  { maxAgeMs, isSecure }: { maxAgeMs: number; isSecure: boolean },
): string {
  return `${name}=${value}; Path=/; Max-Age=${maxAgeMs / 1_000}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
}

/**
 * The name a cookie goes by: with `__Host-` a browser takes it only from this very host, over TLS, so that no neighbour
 * in the domain can plant one. Without TLS browsers refuse that prefix. Source: RFC 6265bis, section 4.1.3.2.
 */
export function cookieName(name: string, isSecure: boolean): string {
  return isSecure ? `__Host-${name}` : name;
}

/** True where cookies can be `Secure`: everywhere but on one's own machine. */
export function isSecureUrl(appUrl: string): boolean {
  return appUrl.startsWith('https:');
}
