import { type Cookie, isSecureUrl } from '../http/cookies.ts';
import { keepAttempt, newAttempt } from './login-attempt.ts';
import { authorizationUrl, type Prompt } from './oauth-client.ts';
import type { LoginProvider } from './provider.ts';

/** Where to redirect a browser, and the `Set-Cookie`s of the redirect. */
export interface LoginRedirect {
  readonly location: string;
  readonly cookies: readonly string[];
}

interface LoginStart {
  readonly provider: LoginProvider;
  readonly appUrl: string;
  readonly cookies: readonly Cookie[];
  readonly prompt?: Prompt | undefined;
}

/** Redirects a browser to the identity provider. Each start, even in another tab, is an attempt of its own. */
export function startLogin(
  { provider, appUrl, cookies, prompt }: LoginStart,
  clock: () => number = Date.now,
): LoginRedirect {
  const attempt = newAttempt(clock());
  return {
    location: authorizationUrl(provider, appUrl, attempt, prompt),
    cookies: keepAttempt(attempt, cookies, isSecureUrl(appUrl)),
  };
}
