import type middy from '@middy/core';
import { parseCookies } from '../http/cookies.ts';
import { type ApiEvent, type ApiResult, headerValues } from '../http/event.ts';
import { isNavigation } from '../http/navigation.ts';
import { redirect } from '../http/response.ts';
import { forgetAttempt } from '../login/login-attempt.ts';
import { loginErrorCodeOf } from '../login/login-error.ts';
import { measure } from '../metrics.ts';
import { asApiError } from './error-response.ts';

/**
 * Answers a person whose login fails on its way with the dashboard's login page, which says in words what JSON would say by a
 * code; their attempt is over. Programs get the JSON. The first of a route's checks, so that it sees the headers of all others.
 *
 * The address is relative, because to look up our own may be what has failed: API and dashboard are one origin.
 */
export function loginPage(): middy.MiddlewareObj<ApiEvent, ApiResult> {
  function loginPageOnError(request: middy.Request<ApiEvent, ApiResult>): void {
    const { event, error, response } = request;
    if (!response || !isNavigation(event)) return;
    const { status } = asApiError(error);
    if (status >= 500) measure({}, { LoginFailures: 1 });
    // In a redirect `Retry-After` would have the browser wait before it shows the page. Source: RFC 9110, section 10.2.3.
    const { 'Retry-After': _, 'Content-Type': __, ...headers } = response.headers ?? {};
    const page = redirect(`/dashboard/login?error=${loginErrorCodeOf(asApiError(error))}`, attemptsOver(event));
    request.response = { ...page, headers: { ...headers, ...page.headers } };
  }
  return { onError: loginPageOnError };
}

/** The `Set-Cookie`s that end the attempt. Without our address it is not known which of two names its cookie has. */
function attemptsOver(event: ApiEvent): string[] {
  const [state, second] = event.multiValueQueryStringParameters?.state ?? [];
  if (second !== undefined) return [];
  const cookies = parseCookies(headerValues(event, 'cookie'));
  return [true, false].flatMap((isSecure) => forgetAttempt(state, cookies, isSecure));
}
