import type middy from '@middy/core';
import { appUrl } from '../aws/parameters.ts';
import { ApiError } from '../errors.ts';
import { type ApiEvent, headerValues } from '../http/request.ts';
import type { ApiResult } from '../http/response.ts';
import type { Middleware } from './route-stack.ts';

interface SiteHeaders {
  /** Every value of the request's `Origin`. */
  readonly origin: readonly string[];
  /** Every value of the request's `Sec-Fetch-Site`. */
  readonly secFetchSite: readonly string[];
}

const SAFE_METHODS = new Set(['GET', 'HEAD']);

/**
 * True when a request with a cookie would change something and is not known to come from our own pages. Browsers say where a
 * request comes from in headers that no page can set:
 * - `Origin`, if present, must be exactly ours. So `null` (a sandboxed or local page) is refused;
 * - `Sec-Fetch-Site`, if present, must be `same-origin`: another host of our domain is foreign, too;
 * - at least one of them must be present. An old browser sends neither, so a request without either may come from a page of any site. A
 *   request in which one of them is repeated proves nothing, so it is refused.
 * @param ownOrigin  the origin of dashboard and API, as `new URL(…).origin` writes it.
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
 * True if a login is started by our own page, or by the person (an address that was typed, or a bookmark), or if the browser does not say.
 * Another host of our domain is foreign, too. Source: W3C, "Fetch Metadata Request Headers", `Sec-Fetch-Site`.
 * @param secFetchSite  every value of the request's `Sec-Fetch-Site`.
 */
export function isOwnStart(secFetchSite: readonly string[]): boolean {
  const [site = '', ...others] = secFetchSite;
  return secFetchSite.length === 0 || (others.length === 0 && ['same-origin', 'none'].includes(site));
}

/** True for the name in our address, in any case and with any port, as a browser compares names for cookies; or if the edge sent none. */
export function isOwnName(viewerHost: string | undefined, ownAddress: string): boolean {
  return viewerHost === undefined || URL.parse(`http://${viewerHost}`)?.hostname === new URL(ownAddress).hostname;
}

/**
 * Refuses a request with our cookie if a page that is not ours may have caused the browser to send it. A request with a key passes, because
 * only someone who has the key can send such a request. @throws ApiError `forbidden`.
 */
export function crossSite(): Middleware {
  async function crossSiteBefore({ event }: middy.Request<ApiEvent, ApiResult>): Promise<void> {
    if (event.caller?.by !== 'session') return;
    const headers = {
      origin: headerValues(event, 'origin'),
      secFetchSite: headerValues(event, 'sec-fetch-site'),
    };
    const { origin } = new URL(await appUrl());
    if (isCrossSiteWrite(event.httpMethod, headers, origin))
      throw new ApiError('forbidden', { detail: 'Origin or Sec-Fetch-Site is not ours, or both are absent' });
  }
  return { before: crossSiteBefore };
}
