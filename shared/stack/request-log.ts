import type middy from '@middy/core';
import type { Context } from 'aws-lambda';
import type { ApiEvent, ApiResult } from '../http/event.ts';
import { describeError, log } from '../log.ts';
import { measure } from '../metrics.ts';
import { ROUTES, type Route } from '../routes.ts';
import { asApiError } from './error-response.ts';

/**
 * One line a request: route, status, time, and the cause of an error. Never a header, query or body. An answer with an
 * error is counted as well.
 */
export function requestLog(route: string): middy.MiddlewareObj<ApiEvent, ApiResult> {
  const { rateClass } = (ROUTES as Readonly<Record<string, Route | undefined>>)[route] ?? {};
  type Request = middy.Request<ApiEvent, ApiResult, Error, Context, { startedAt?: number }>;
  function requestLogBefore(request: Request): void {
    request.internal.startedAt = performance.now();
  }
  function requestLogAfter({ event, response, error, internal }: Request): void {
    const status = response?.statusCode ?? 500;
    const { code, status: failure = 0 } = error ? asApiError(error) : {};
    // A person at the login is redirected, whatever failed: the answer's status alone would not tell.
    const isOurs = Math.max(status, failure) >= 500;
    log(isOurs ? 'error' : 'info', 'request', {
      request_id: event.requestContext.requestId,
      route,
      method: event.httpMethod,
      status,
      ms: Math.round(performance.now() - (internal.startedAt ?? performance.now())),
      ...(event.caller && { account_id: event.caller.accountId, by: event.caller.by }),
      ...(code && { code }),
      // A refusal is the client's affair; only our own failures need a stack.
      ...(error && isOurs && describeError(error)),
    });
    if (!code) return;
    measure({ Code: code }, { Rejections: 1 });
    if (code === 'rate_limit_exceeded' && rateClass) measure({ RateClass: rateClass }, { RateLimited: 1 });
    if (event.stream && status >= 500) measure({}, { StreamingFailures: 1 });
  }
  return { before: requestLogBefore, after: requestLogAfter, onError: requestLogAfter };
}
