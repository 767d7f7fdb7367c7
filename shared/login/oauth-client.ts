import {
  ArcticFetchError,
  CodeChallengeMethod,
  OAuth2Client,
  OAuth2RequestError,
  UnexpectedErrorResponseBodyError,
  UnexpectedResponseError,
} from 'arctic';
import type { LoginAttempt } from './login-attempt.ts';
import { LoginError } from './login-error.ts';
import type { LoginProvider } from './provider.ts';

export type Prompt = 'select_account';

const EXCHANGE_TIMEOUT_MS = 5_000;

/** Where the provider redirects the browser to: one exact address, which the operator has registered there. */
const redirectUri = (appUrl: string) => `${appUrl}/api/v1/auth/google/callback`;

/**
 * The provider's address where the browser logs in, with PKCE S256, state and nonce.
 * @param prompt  `select_account` lets the person choose an account. By default Google takes the account that was chosen before.
 */
export function authorizationUrl(
  provider: LoginProvider,
  appUrl: string,
  attempt: LoginAttempt,
  prompt: Prompt | undefined,
): string {
  const client = new OAuth2Client(provider.clientId, null, redirectUri(appUrl));
  const url = client.createAuthorizationURLWithPKCE(
    provider.authorizationEndpoint,
    attempt.state,
    CodeChallengeMethod.S256,
    attempt.codeVerifier,
    ['openid', 'email', 'profile'],
  );
  url.searchParams.set('nonce', attempt.nonce);
  if (prompt) url.searchParams.set('prompt', prompt);
  return url.href;
}

/**
 * Exchanges a code for an ID token, which is not verified yet.
 * @throws LoginError `login_failed` when the provider refuses the code, `unavailable` when it does not answer within five
 *   seconds.
 */
export async function exchangeCode(
  provider: LoginProvider,
  appUrl: string,
  { code, codeVerifier, clientSecret }: { code: string; codeVerifier: string; clientSecret: string },
): Promise<string> {
  try {
    const client = new OAuth2Client(provider.clientId, clientSecret, redirectUri(appUrl));
    const tokens = await withinTimeout(client.validateAuthorizationCode(provider.tokenEndpoint, code, codeVerifier));
    return tokens.idToken();
  } catch (error) {
    throw toLoginError(error);
  }
}

/** Limits the wait, because arctic waits as long as the connection lasts. A late answer is ignored. */
async function withinTimeout<Value>(work: Promise<Value>): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new LoginError('unavailable', 'the token endpoint did not answer in time')),
    EXCHANGE_TIMEOUT_MS,
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The errors by which the provider refuses our client, whatever the code is: for example, because the client secret is wrong or has
 * expired. A browser with a wrong code cannot cause these errors. Source: RFC 6749, section 5.2.
 */
const REFUSALS_OF_OUR_CLIENT: ReadonlySet<string> = new Set(['invalid_client', 'unauthorized_client']);

/** Leaves out the cause, because arctic's errors hold the provider's answer. */
function toLoginError(error: unknown): LoginError {
  if (error instanceof LoginError) return error;
  if (error instanceof ArcticFetchError) return new LoginError('unavailable', 'the token endpoint cannot be reached');
  if (error instanceof OAuth2RequestError) {
    const isOurFailure = REFUSALS_OF_OUR_CLIENT.has(error.code);
    return new LoginError('login_failed', `the token endpoint refused the code: ${error.code}`, { isOurFailure });
  }
  if (error instanceof UnexpectedResponseError || error instanceof UnexpectedErrorResponseBodyError) {
    const code = error.status >= 500 || error.status === 429 ? 'unavailable' : 'login_failed';
    return new LoginError(code, `the token endpoint answered ${error.status}`);
  }
  return new LoginError('login_failed', 'the token endpoint gave no ID token');
}
