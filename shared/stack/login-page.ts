import type middy from '@middy/core';
import { asApiError } from '../errors.ts';
import { parseCookies } from '../http/cookies.ts';
import { type ApiEvent, headerValues } from '../http/request.ts';
import { type ApiResult, redirect } from '../http/response.ts';
import { forgetAttempt } from '../login/login-attempt.ts';
import { loginErrorCodeOf } from '../login/login-error.ts';
import { measure } from '../metrics.ts';
import type { Middleware } from './route-stack.ts';

/**
 * When a login in a browser fails, redirects the browser to the dashboard's login page, which explains the error in words. It also ends the
 * attempt to log in. A program gets the error as JSON. This middleware must be the first of a route's checks, so that it sees the headers
 * that the other checks set.
 *
 * The redirect has a relative address, because the failure may be that we cannot look up our own address. A relative address is enough: API
 * and dashboard have one origin.
 */
export function loginPage(): Middleware {
  function loginPageOnError(request: middy.Request<ApiEvent, ApiResult>): void {
    const { event, error, response } = request;
    if (!response || !isNavigation(event)) return;
    const { status } = asApiError(error);
    if (status >= 500) measure({}, { LoginFailures: 1 });
    // With `Retry-After` in a redirect a browser would wait before it shows the page. Source: RFC 9110, section 10.2.3.
    const { 'Retry-After': _, 'Content-Type': __, 'Error-Detail': ___, ...headers } = response.headers ?? {};
    const page = redirect(`/dashboard/login?error=${loginErrorCodeOf(asApiError(error))}`, attemptsOver(event));
    request.response = { ...page, headers: { ...headers, ...page.headers } };
  }
  return { onError: loginPageOnError };
}

/**
 * The `Set-Cookie`s that end the attempt. Its cookie has one of two names, which depend on our address. We may not know our address, so we
 * look for both names.
 */
function attemptsOver(event: ApiEvent): string[] {
  const [state, second] = event.multiValueQueryStringParameters?.state ?? [];
  if (second !== undefined) return [];
  const cookies = parseCookies(headerValues(event, 'cookie'));
  return [true, false].flatMap((isSecure) => forgetAttempt(state, cookies, isSecure));
}

/**
 * True when a browser opens the address as a page, so that a person reads the answer. Browsers say so in `Sec-Fetch-Mode`, which no page
 * can set. A browser that does not send this header prefers HTML in `Accept`. Programs and the scripts of pages prefer JSON.
 */
export function isNavigation(event: ApiEvent): boolean {
  const modes = headerValues(event, 'sec-fetch-mode');
  if (modes.length > 0) return modes.length === 1 && modes[0] === 'navigate';
  const accept = parseAccept(headerValues(event, 'accept'));
  return weightOf('text/html', accept) > weightOf('application/json', accept);
}

type Weights = ReadonlyMap<string, number>;

/** Each media range of `Accept` with its weight, 1 by default. Source: RFC 9110, sections 12.4.2 and 12.5.1. */
function parseAccept(values: readonly string[]): Weights {
  const ranges = values.flatMap((value) => value.split(','));
  return new Map(
    ranges.map((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return [type, weight === undefined ? 1 : Number(weight) || 0] as const;
    }),
  );
}

/** The weight of a type: that of the most specific range that includes it. */
function weightOf(type: string, accept: Weights): number {
  const [main = ''] = type.split('/');
  return accept.get(type) ?? accept.get(`${main}/*`) ?? accept.get('*/*') ?? 0;
}
