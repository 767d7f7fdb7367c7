/** A browser's cookies, as far as a login needs them: by host (without the port, RFC 6265, 8.5), path and expiry. */
export interface CookieJar {
  /** Stores the cookies of an answer's `Set-Cookie` headers. */
  store(url: URL, response: Response): void;
  /** The value of the `Cookie` header for a request to `url`; '' when no cookie matches. */
  header(url: URL): string;
}

interface Cookie {
  readonly host: string;
  readonly path: string;
  readonly name: string;
  readonly value: string;
}

export function cookieJar(): CookieJar {
  const cookies = new Map<string, Cookie>();
  return {
    store(url, response) {
      for (const line of response.headers.getSetCookie()) {
        const [pair = '', ...attributes] = line.split(/;\s*/);
        const [name = '', value = ''] = pair.split(/=(.*)/s);
        const attribute = (wanted: string) =>
          attributes.find((text) => text.toLowerCase().startsWith(`${wanted}=`))?.split(/=(.*)/s)[1];
        const cookie = { host: url.hostname, path: attribute('path') ?? folderOf(url), name, value };
        const expires = attribute('expires');
        const isOver =
          Number(attribute('max-age') ?? 1) <= 0 || (expires !== undefined && Date.parse(expires) <= Date.now());
        const key = JSON.stringify([cookie.host, cookie.path, name]);
        if (isOver) cookies.delete(key);
        else cookies.set(key, cookie);
      }
    },
    header(url) {
      const isSent = ({ host, path }: Cookie) =>
        host === url.hostname &&
        (url.pathname === path || url.pathname.startsWith(path.endsWith('/') ? path : `${path}/`));
      return [...cookies.values()]
        .filter(isSent)
        .map(({ name, value }) => `${name}=${value}`)
        .join('; ');
    },
  };
}

/** The default path of a cookie: the URL's path up to its last slash. */
function folderOf({ pathname }: URL): string {
  return pathname.slice(0, Math.max(1, pathname.lastIndexOf('/')));
}
