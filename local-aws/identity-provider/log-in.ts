import { type CookieJar, cookieJar } from './cookie-jar.ts';

export interface LoggedIn {
  /** The `Cookie` header that a browser sends to the service after the login: the session, if the login succeeded. */
  readonly cookies: string;
  /** The `Location` of the service's last redirect. */
  readonly location: string;
  /** The `Set-Cookie` headers of that redirect. */
  readonly setCookies: readonly string[];
}

const STEPS_MAX = 20;

/**
 * Logs in as a browser does: opens the service's login, fills in the provider's form, and follows every redirect until the
 * service answers its callback.
 * @param options.startUrl  `{base_url}/auth/google`.
 * @param options.choice  the button of the provider's form to press; default `continue`.
 * @param options.jar  the browser's cookies; default none.
 * @param options.userAgent  the browser's `User-Agent`; default that of `fetch`.
 * @param options.around  wraps the last request, the callback to the service.
 * @throws Error with status and body of the page where it got stuck.
 */
export async function logIn(options: {
  startUrl: string;
  email: string;
  choice?: 'continue' | 'cancel';
  jar?: CookieJar;
  userAgent?: string;
  around?: (comeBack: () => Promise<Response>) => Promise<Response>;
}): Promise<LoggedIn> {
  const start = new URL(options.startUrl);
  const { jar = cookieJar(), userAgent, around = (comeBack) => comeBack() } = options;
  let isFormSent = false;
  let next: Step = { url: start };
  for (let step = 0; step < STEPS_MAX; step++) {
    const { url } = next;
    const go = () => open(jar, { ...next, userAgent });
    const response = await (isFormSent && url.origin === start.origin ? around(go) : go());
    const target = response.headers.get('location');
    if (target !== null) {
      if (isFormSent && url.origin === start.origin)
        return {
          cookies: jar.header(new URL('/', start)),
          location: target,
          setCookies: response.headers.getSetCookie(),
        };
      next = { url: new URL(target, url) };
      continue;
    }
    const page = await response.text();
    const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
    if (!response.ok || action === undefined || isFormSent) {
      throw new Error(`the login stops at ${url.origin}${url.pathname}: ${response.status} ${page}`);
    }
    const form = new URLSearchParams({ email: options.email, choice: options.choice ?? 'continue' });
    next = { url: new URL(action, url), form };
    isFormSent = true;
  }
  throw new Error(`the login does not end within ${STEPS_MAX} steps`);
}

interface Step {
  readonly url: URL;
  readonly form?: URLSearchParams;
  readonly userAgent?: string | undefined;
}

async function open(jar: CookieJar, { url, form, userAgent }: Step): Promise<Response> {
  const cookie = jar.header(url);
  const response = await fetch(url, {
    redirect: 'manual',
    headers: { ...(cookie !== '' && { cookie }), ...(userAgent !== undefined && { 'user-agent': userAgent }) },
    ...(form && { method: 'POST', body: form }),
  });
  jar.store(url, response);
  return response;
}
