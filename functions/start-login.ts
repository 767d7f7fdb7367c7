import { appUrl } from '../shared/aws/parameters.ts';
import { loginProvider } from '../shared/aws/secrets.ts';
import { parseCookies } from '../shared/http/cookies.ts';
import { headerValues } from '../shared/http/event.ts';
import { redirect } from '../shared/http/response.ts';
import { routeStack } from '../shared/http/route-stack.ts';
import { startLogin } from '../shared/login/start-login.ts';
import { rateLimit } from '../shared/middleware/rate-limit.ts';
import { ROUTES } from '../shared/routes.ts';

/** GET /auth/google: 302 to the identity provider, with the cookie of this attempt. */
export const handler = routeStack('startLogin', [rateLimit(ROUTES.startLogin.rateClass)], async ({ event }) => {
  const [provider, url] = await Promise.all([loginProvider(), appUrl()]);
  const cookies = parseCookies(headerValues(event, 'cookie'));
  const login = startLogin({ provider, appUrl: url, cookies });
  return redirect(login.location, login.cookies);
});
