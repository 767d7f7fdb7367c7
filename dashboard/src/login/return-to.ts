/** Where to go on after the login, which leaves the dashboard for the identity provider and comes back to its first page. */
const KEY = 'return-to';

/** @param href  within the dashboard, as the router has it. */
export function rememberReturnTo(href: string): void {
  sessionStorage.setItem(KEY, href);
}

/** @returns undefined unless a page of the dashboard waits; it is asked for once. */
export function takeReturnTo(): string | undefined {
  const href = sessionStorage.getItem(KEY) ?? '';
  sessionStorage.removeItem(KEY);
  return isReturnTo(href) ? href : undefined;
}

/** Nothing but a path: `//host` would be another site, also with a tab or a line break in it, which browsers take out. */
export function isReturnTo(href: string): boolean {
  return (
    href.startsWith('/') &&
    URL.canParse(href, location.origin) &&
    new URL(href, location.origin).origin === location.origin
  );
}
