import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import type { Caller } from '../caller.ts';
import { ApiError } from '../errors.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { baseHeaders } from '../middleware/base-headers.ts';
import { crossSite } from '../middleware/cross-site.ts';
import { errorResponse } from '../middleware/error-response.ts';
import { rateLimit } from '../middleware/rate-limit.ts';
import { requestLog } from '../middleware/request-log.ts';
import { ROUTES, type Route, type RouteName } from '../routes.ts';
import type { ApiEvent, ApiResult } from './event.ts';

export interface ApiRequest {
  readonly event: ApiEvent;
  /** Who asks. @throws ApiError `unauthorized` on a public route, which has no caller. */
  readonly caller: Caller;
  /** A path parameter; empty when the route has none of that name. */
  param(name: string): string;
  /** When the function is about to be ended, in epoch milliseconds: retries must stop well before. */
  readonly deadlineAt: number;
}

type ApiFunction = (event: ApiEvent, context: Context) => Promise<ApiResult>;

/** Time left for an answer of our own when the function's time is up, in milliseconds. */
const TIMEOUT_EARLY_MS = 500;

/**
 * The one stack of every route, around `handle`. The order of `.use` is the order of checks (unknown routes and methods
 * never get here); `after` and `onError` hooks run in reverse, so the error shaper is last and the log sees the final
 * answer.
 */
export function apiHandler(name: RouteName, handle: (request: ApiRequest) => Promise<ApiResult>): ApiFunction {
  const route: Route = ROUTES[name];
  const stack = middy<ApiEvent, ApiResult>({
    timeoutEarlyInMillis: TIMEOUT_EARLY_MS,
    timeoutEarlyResponse: throwTimeout,
  })
    .use(requestLog(name)) // outermost: sees every outcome
    .use(baseHeaders()); // every answer, errors too
  if (route.access !== 'public') {
    stack.use(authenticate(route.access)); // 401
    stack.use(crossSite()); // 403, of a cookie alone
  }
  if (route.rateClass) stack.use(rateLimit(route.rateClass)); // 429
  stack.use(errorResponse()); // last, see above
  return stack.handler(async (event: ApiEvent, context: Context) => handle(toRequest(event, context))) as ApiFunction;
}

function toRequest(event: ApiEvent, context: Context): ApiRequest {
  return {
    event,
    get caller() {
      if (!event.caller) throw new ApiError('unauthorized');
      return event.caller;
    },
    param: (name) => event.pathParameters?.[name] ?? '',
    deadlineAt: Date.now() + context.getRemainingTimeInMillis() - TIMEOUT_EARLY_MS,
  };
}

function throwTimeout(): never {
  throw new ApiError('timeout');
}
