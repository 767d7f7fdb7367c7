import { type Cookie, isSecureUrl } from '../http/cookies.ts';
import { keepAttempt, newAttempt } from './login-attempt.ts';
import { authorizationUrl } from './oauth-client.ts';
import type { LoginProvider } from './provider.ts';

/** Where to send a browser, and the `Set-Cookie`s to send with it. */
export interface LoginRedirect {
  readonly location: string;
  readonly cookies: readonly string[];
}

/** Sends a browser to the identity provider. Starting again, or in another tab, is another attempt. */
export function startLogin(
  { provider, appUrl, cookies }: { provider: LoginProvider; appUrl: string; cookies: readonly Cookie[] },
  clock: () => number = Date.now,
): LoginRedirect {
  const attempt = newAttempt(clock());
  return {
    location: authorizationUrl(provider, appUrl, attempt),
    cookies: keepAttempt(attempt, cookies, isSecureUrl(appUrl)),
  };
}
