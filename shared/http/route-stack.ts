import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { ApiError } from '../errors.ts';
import { baseHeaders } from '../middleware/base-headers.ts';
import { errorResponse } from '../middleware/error-response.ts';
import { requestLog } from '../middleware/request-log.ts';
import type { RouteName } from '../routes.ts';
import type { ApiEvent, ApiResult } from './event.ts';

export type ApiFunction = (event: ApiEvent, context: Context) => Promise<ApiResult>;
export type Check = middy.MiddlewareObj<ApiEvent, ApiResult>;

/** What a handler is told of the request. */
export interface RouteRequest {
  readonly event: ApiEvent;
  /** A path parameter; empty when the route has none of that name. */
  param(name: string): string;
  /** When the function is about to be ended, in epoch milliseconds: retries must stop before. */
  readonly deadlineAt: number;
}

/** Time left for an answer of our own when the function's time is up, in milliseconds. */
const TIMEOUT_EARLY_MS = 500;

/**
 * The one stack of every route, around its checks and `handle`. The order of `.use` is the order of checks; `after` and
 * `onError` hooks run in reverse, so the error shaper is last, and the log sees the final answer.
 */
export function routeStack(
  name: RouteName,
  checks: readonly Check[],
  handle: (request: RouteRequest) => Promise<ApiResult>,
): ApiFunction {
  const stack = middy<ApiEvent, ApiResult>({
    timeoutEarlyInMillis: TIMEOUT_EARLY_MS,
    timeoutEarlyResponse: throwTimeout,
  })
    .use(requestLog(name)) // outermost: sees every outcome
    .use(baseHeaders()); // every answer, errors too
  for (const check of checks) stack.use(check);
  stack.use(errorResponse()); // last, see above
  return stack.handler((event: ApiEvent, context: Context) =>
    handle({
      event,
      param: (parameter) => event.pathParameters?.[parameter] ?? '',
      deadlineAt: Date.now() + context.getRemainingTimeInMillis() - TIMEOUT_EARLY_MS,
    }),
  ) as ApiFunction;
}

function throwTimeout(): never {
  throw new ApiError('timeout');
}
