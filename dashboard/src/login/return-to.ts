/** The key of the page to return to. A login leaves the dashboard, and always comes back to its first page. */
const KEY = 'return-to';

/** Saves the page to return to. @param href  relative to the dashboard, as in the router. */
export function rememberReturnTo(href: string): void {
  ifAllowed(() => sessionStorage.setItem(KEY, href));
}

/** Reads and removes the saved page. @returns undefined when there is none. */
export function takeReturnTo(): string | undefined {
  const href = ifAllowed(() => sessionStorage.getItem(KEY)) ?? '';
  ifAllowed(() => sessionStorage.removeItem(KEY));
  return isReturnTo(href) ? href : undefined;
}

/** Browsers throw at any use of the storage when the person has forbidden it, or it is full. Then a login leads to the first page. */
function ifAllowed<Value>(use: () => Value): Value | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}

/** True for a path of this site: `//host` would be another site, even with tabs or line breaks, which browsers remove. */
export function isReturnTo(href: string): boolean {
  return (
    href.startsWith('/') &&
    URL.canParse(href, location.origin) &&
    new URL(href, location.origin).origin === location.origin
  );
}
