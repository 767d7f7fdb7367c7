import type middy from '@middy/core';
import type { ApiEvent, ApiResult } from '../http/event.ts';

/** Adds what every answer carries: the request id, `no-store`, `nosniff`. */
export function baseHeaders(): middy.MiddlewareObj<ApiEvent, ApiResult> {
  function addBaseHeaders({ event, response }: middy.Request<ApiEvent, ApiResult>): void {
    if (!response) return;
    response.headers = {
      ...response.headers,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': event.requestContext.requestId,
    };
  }
  return { after: addBaseHeaders, onError: addBaseHeaders };
}
