import type middy from '@middy/core';
import { appUrl } from '../aws/parameters.ts';
import { ApiError } from '../errors.ts';
import { isCrossSiteWrite } from '../http/cross-site.ts';
import { type ApiEvent, type ApiResult, headerValues } from '../http/event.ts';

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
