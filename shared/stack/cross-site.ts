import type middy from '@middy/core';
import { appUrl } from '../aws/parameters.ts';
import { ApiError } from '../errors.ts';
import { type ApiEvent, type ApiResult, headerValues } from '../http/event.ts';

interface SiteHeaders {
  /** Every value of the request's `Origin`. */
  readonly origin: readonly string[];
  /** Every value of the request's `Sec-Fetch-Site`. */
  readonly secFetchSite: readonly string[];
}

const SAFE_METHODS = new Set(['GET', 'HEAD']);

/**
 * True when a request that a cookie authenticates would change something and did not come from our own pages. Browsers
 * state where a request comes from in headers that no page can set:
 * - `Origin`, if there is one, must be ours to the letter; `null` (a sandboxed or local page) is not;
 * - `Sec-Fetch-Site`, if there is one, must be `same-origin`: a neighbour in our domain is foreign too;
 * - at least one must be there: without both, it may be an old browser on any page.
 * A repeated header proves nothing, so it fails.
 * @param ownOrigin  of dashboard and API, as `new URL(…).origin` writes it.
 */
export function isCrossSiteWrite(method: string, { origin, secFetchSite }: SiteHeaders, ownOrigin: string): boolean {
  if (SAFE_METHODS.has(method)) return false;
  if (origin.length === 0 && secFetchSite.length === 0) return true;
  return !isAbsentOr(ownOrigin, origin) || !isAbsentOr('same-origin', secFetchSite);
}

function isAbsentOr(expected: string, values: readonly string[]): boolean {
  return values.length === 0 || (values.length === 1 && values[0] === expected);
}

/**
 * Refuses what a foreign page made a browser send with our cookie. A key is sent by nobody but its holder, so a request
 * with one passes. @throws ApiError `forbidden`.
 */
export function crossSite(): middy.MiddlewareObj<ApiEvent, ApiResult> {
  async function crossSiteBefore({ event }: middy.Request<ApiEvent, ApiResult>): Promise<void> {
    if (event.caller?.by !== 'session') return;
    const headers = {
      origin: headerValues(event, 'origin'),
      secFetchSite: headerValues(event, 'sec-fetch-site'),
    };
    const { origin } = new URL(await appUrl());
    if (isCrossSiteWrite(event.httpMethod, headers, origin)) throw new ApiError('forbidden');
  }
  return { before: crossSiteBefore };
}
