import { appUrl, loginProvider } from '../../shared/aws/parameters.ts';
import { parseCookies } from '../../shared/http/cookies.ts';
import { header, headerValues } from '../../shared/http/request.ts';
import { redirect } from '../../shared/http/response.ts';
import { startLogin } from '../../shared/login/start-login.ts';
import { isOwnName, isOwnStart } from '../../shared/stack/cross-site.ts';
import { loginPage } from '../../shared/stack/login-page.ts';
import { rateLimit } from '../../shared/stack/rate-limit.ts';
import { routeStack } from '../../shared/stack/route-stack.ts';
import { viewerSubject } from '../../shared/stack/viewer.ts';
import { startLogin as route } from './start-login.route.ts';

const checks = [loginPage(), rateLimit(route.rateClass, viewerSubject)];

/**
 * GET /auth/google: 302 to the identity provider, with the cookie of this attempt. Errors redirect a browser to the login page.
 *
 * A browser that has opened the service under another name, such as 127.0.0.1, first goes to this route under our own name: the callback
 * comes to our own name, and gets only the cookies of that name. With `moved` the browser does not go there again, because a proxy
 * before us may always state another name. For a browser that says where a request comes from, that move is one from another site, so it
 * ends at our login page, where the person begins anew.
 *
 * A page of another site can only lead to our login page, where the person decides. Otherwise its link, or its hidden request, would replace
 * the session of a browser that is logged in at Google.
 */
export const handler = routeStack(route, checks, async ({ event }) => {
  const url = await appUrl();
  if (!isOwnStart(headerValues(event, 'sec-fetch-site'))) return redirect(`${url}/dashboard/login`, []);
  const { prompt, moved } = event.multiValueQueryStringParameters ?? {};
  const choice = prompt?.join() === 'select_account' ? 'select_account' : undefined;
  if (moved === undefined && !isOwnName(header(event, 'x-viewer-host'), url)) {
    const query = new URLSearchParams({ ...(choice && { prompt: choice }), moved: '1' });
    return redirect(`${url}${route.path}?${query}`, []);
  }
  const provider = await loginProvider();
  const cookies = parseCookies(headerValues(event, 'cookie'));
  const login = startLogin({ provider, appUrl: url, cookies, prompt: choice });
  return redirect(login.location, login.cookies);
});
