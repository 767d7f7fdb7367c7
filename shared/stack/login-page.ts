import type middy from '@middy/core';
import { parseCookies } from '../http/cookies.ts';
import { type ApiEvent, type ApiResult, headerValues } from '../http/event.ts';
import { redirect } from '../http/response.ts';
import { forgetAttempt } from '../login/login-attempt.ts';
import { loginErrorCodeOf } from '../login/login-error.ts';
import { measure } from '../metrics.ts';
import { asApiError } from './error-response.ts';

/**
 * True when a browser opens the address as a page, so that a person reads what is answered. Browsers say so in
 * `Sec-Fetch-Mode`, which no page can set; one that does not send it asks for HTML before anything else. Programs, and what
 * a page's script fetches, want JSON.
 */
export function isNavigation(event: ApiEvent): boolean {
  const modes = headerValues(event, 'sec-fetch-mode');
  if (modes.length > 0) return modes.length === 1 && modes[0] === 'navigate';
  const accept = parseAccept(headerValues(event, 'accept'));
  return weightOf('text/html', accept) > weightOf('application/json', accept);
}

type Weights = ReadonlyMap<string, number>;

/** Each media range of `Accept` with its weight, which is 1 unless told. Source: RFC 9110, sections 12.4.2 and 12.5.1. */
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

/** Of the ranges that a type falls under, the most specific counts. */
function weightOf(type: string, accept: Weights): number {
  const [main = ''] = type.split('/');
  return accept.get(type) ?? accept.get(`${main}/*`) ?? accept.get('*/*') ?? 0;
}

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
