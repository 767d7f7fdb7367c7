import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import type { ApiEvent, ApiResult } from '../http/event.ts';
import type { RouteName } from '../routes.ts';
import { type Deadline, deadlineOf, inTime, withinInvocation } from '../time-limit.ts';
import { baseHeaders } from './base-headers.ts';
import { errorResponse } from './error-response.ts';
import { requestLog } from './request-log.ts';

export type ApiFunction = (event: ApiEvent, context: Context) => Promise<ApiResult>;
export type Check = middy.MiddlewareObj<ApiEvent, ApiResult>;

/** What a handler is told of the request. */
export interface RouteRequest extends Deadline {
  readonly event: ApiEvent;
  /** A path parameter; empty when the route has none of that name. */
  param(name: string): string;
}

/**
 * The one stack of every route, around its checks and `handle`. The order of `.use` is the order of checks; `after` and
 * `onError` hooks run in reverse, so the error shaper is last, and the log sees the final answer.
 *
 * All of it runs within the time of the invocation (`time-limit.ts`), which is over a moment before Lambda's: then calls to
 * AWS are aborted, also those of the checks, and the client is told `timeout`, whatever `handle` is waiting for.
 */
export function routeStack(
  name: RouteName,
  checks: readonly Check[],
  handle: (request: RouteRequest) => Promise<ApiResult>,
): ApiFunction {
  // Without middy's own early answer: it would spare the checks.
  const stack = middy<ApiEvent, ApiResult>({ timeoutEarlyInMillis: 0 })
    .use(requestLog(name)) // outermost: sees every outcome
    .use(baseHeaders()); // every answer, errors too
  for (const check of checks) stack.use(check);
  stack.use(errorResponse()); // last, see above
  const answer = stack.handler((event: ApiEvent, context: Context) =>
    inTime(
      handle({
        event,
        param: (parameter) => event.pathParameters?.[parameter] ?? '',
        ...deadlineOf(context),
      }),
    ),
  ) as ApiFunction;
  return (event, context) => withinInvocation(context, () => answer(event, context));
}
