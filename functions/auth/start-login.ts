import { appUrl } from '../../shared/aws/parameters.ts';
import { loginProvider } from '../../shared/aws/secrets.ts';
import { parseCookies } from '../../shared/http/cookies.ts';
import { headerValues } from '../../shared/http/request.ts';
import { redirect } from '../../shared/http/response.ts';
import { startLogin } from '../../shared/login/start-login.ts';
import { loginPage } from '../../shared/stack/login-page.ts';
import { rateLimit } from '../../shared/stack/rate-limit.ts';
import { routeStack } from '../../shared/stack/route-stack.ts';
import { viewerSubject } from '../../shared/stack/viewer.ts';
import { startLogin as route } from './start-login.route.ts';

const checks = [loginPage(), rateLimit(route.rateClass, viewerSubject)];

/** GET /auth/google: 302 to the identity provider, with the cookie of this attempt. Errors redirect a browser to the login page. */
export const handler = routeStack(route, checks, async ({ event }) => {
  const [provider, url] = await Promise.all([loginProvider(), appUrl()]);
  const cookies = parseCookies(headerValues(event, 'cookie'));
  const login = startLogin({ provider, appUrl: url, cookies });
  return redirect(login.location, login.cookies);
});
