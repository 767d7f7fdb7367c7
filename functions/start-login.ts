import { appUrl } from '../shared/aws/parameters.ts';
import { loginProviderSecret } from '../shared/aws/secrets.ts';
import { apiHandler } from '../shared/http/api-handler.ts';
import { parseCookies } from '../shared/http/cookies.ts';
import { headerValues } from '../shared/http/event.ts';
import { redirect } from '../shared/http/response.ts';
import { parseLoginProvider } from '../shared/login/provider.ts';
import { startLogin } from '../shared/login/start-login.ts';

/** GET /auth/google: 302 to the identity provider, with the cookie of this attempt. */
export const handler = apiHandler('startLogin', async ({ event }) => {
  const [secret, url] = await Promise.all([loginProviderSecret(), appUrl()]);
  const cookies = parseCookies(headerValues(event, 'cookie'));
  const login = startLogin({ provider: parseLoginProvider(secret), appUrl: url, cookies });
  return redirect(login.location, login.cookies);
});
