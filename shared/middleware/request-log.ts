import type middy from '@middy/core';
import type { Context } from 'aws-lambda';
import type { ApiEvent, ApiResult } from '../http/event.ts';
import { describeError, log } from '../log.ts';
import { asApiError } from './error-response.ts';

/** One line a request: route, status, time, and the cause of an error. Never a header, query or body. */
export function requestLog(route: string): middy.MiddlewareObj<ApiEvent, ApiResult> {
  type Request = middy.Request<ApiEvent, ApiResult, Error, Context, { startedAt?: number }>;
  function requestLogBefore(request: Request): void {
    request.internal.startedAt = performance.now();
  }
  function requestLogAfter({ event, response, error, internal }: Request): void {
    const status = response?.statusCode ?? 500;
    log(status >= 500 ? 'error' : 'info', 'request', {
      request_id: event.requestContext.requestId,
      route,
      method: event.httpMethod,
      status,
      ms: Math.round(performance.now() - (internal.startedAt ?? performance.now())),
      ...(event.caller && { account_id: event.caller.accountId, by: event.caller.by }),
      ...(error && { code: asApiError(error).code }),
      // A refusal is the client's affair; only our own failures need a stack.
      ...(error && status >= 500 && describeError(error)),
    });
  }
  return { before: requestLogBefore, after: requestLogAfter, onError: requestLogAfter };
}
