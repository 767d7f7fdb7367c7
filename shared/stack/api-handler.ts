import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { generateKey } from '../api-keys/key-format.ts';
import { apiKeyCredentials } from '../aws/api-key-store.ts';
import { withAnyItem } from '../aws/dynamodb.ts';
import { appUrl } from '../aws/parameters.ts';
import { sessionCredentials } from '../aws/session-store.ts';
import type { AnswerName, Answers } from '../contract/answers.ts';
import type { RateClass, RouteContract } from '../contract/route.ts';
import { ApiError } from '../errors.ts';
import type { ApiEvent, Caller } from '../http/request.ts';
import { type ApiResult, ok } from '../http/response.ts';
import { uuidv7 } from '../ids.ts';
import { withinInvocation } from '../time-limit.ts';
import { authenticate } from './authenticate.ts';
import { crossSite } from './cross-site.ts';
import { rateLimit } from './rate-limit.ts';
import { type ApiFunction, type Middleware, paramOf, type RouteRequest, routeStack } from './route-stack.ts';
import { warmUp } from './warm-up.ts';

/** What a handler gets of a request whose caller is known. `Early` is what the route's early reads find. */
export interface ApiRequest<Early = unknown> extends RouteRequest {
  readonly caller: Caller;
  /** Rejects when the early reads failed. A handler that does not need them need not await this promise. */
  readonly early: Promise<Early>;
}

/**
 * The reads that a route begins as soon as the caller is known, while the rate limiter decides. They change nothing, because a request that
 * the limiter then refuses must have no effect except that it is counted. Only the handler sees their errors: when the limiter refuses the
 * request or fails, the limiter's 429 or 503 is the answer, even if an early read has failed as well. Reads that are still under way when
 * the request is answered are aborted.
 */
type EarlyReads<Early> = (request: Pick<ApiRequest, 'event' | 'caller' | 'param'>) => Promise<Early>;

/** A route that needs a credential. */
type GuardedRoute = RouteContract & { readonly access: 'session' | 'key-or-session'; readonly rateClass: RateClass };

/** The body that the declaration of a route promises. */
type AnswerOf<Route extends RouteContract> = Answers[Extract<
  Route['operation']['successes'][number],
  { readonly body: AnswerName }
>['body']];

/** How long {@link rehearse} may run the checks of a route. It usually takes some milliseconds. */
const REHEARSAL_MS = 5_000;

const stores = { keys: apiKeyCredentials, sessions: sessionCredentials, appUrl };

/** Builds the function of a route that needs a credential. Its checks come in the order of the contract. */
export function apiHandler<Route extends GuardedRoute, Early = unknown>(
  route: Route,
  handle: (request: ApiRequest<Early>) => Promise<ApiResult<AnswerOf<Route>>>,
  readEarly?: EarlyReads<Early>,
): ApiFunction {
  const { access, rateClass } = route;
  const reads = new WeakMap<ApiEvent, Promise<Early | undefined>>();
  const beginReads = (event: ApiEvent) => {
    const early = read(event, readEarly);
    // The request may end before the handler awaits this promise. Then its rejection must not count as unhandled.
    early.catch(() => {});
    reads.set(event, early);
  };
  const checks = [
    authenticate(stores, access), // 401
    crossSite(), // 403, only for a cookie
    rateLimit(rateClass, (event) => callerOf(event).accountId, beginReads), // 429
  ];
  if (access === 'key-or-session') warmUp(() => rehearse(checks));
  return routeStack(route, checks, (request) => {
    const { event } = request;
    return handle({ ...request, caller: callerOf(event), early: reads.get(event) as Promise<Early> });
  });
}

/**
 * Runs the checks of a route, with the early reads that they begin, for a request with a key. Nothing is sent: the calls to AWS are
 * answered in memory. This is done while the function loads, because Node compiles functions at their first use. Without a rehearsal, the
 * first request takes a third more processor time.
 */
async function rehearse(checks: readonly Middleware[]): Promise<void> {
  const stack = middy<ApiEvent, ApiResult>({ timeoutEarlyInMillis: 0 });
  for (const check of checks) stack.use(check);
  const answer = stack.handler(async () => ok({})) as ApiFunction;
  const event: ApiEvent = {
    httpMethod: 'GET',
    path: '/',
    multiValueHeaders: { Authorization: [`Bearer ${generateKey('test')}`] },
    multiValueQueryStringParameters: null,
    pathParameters: { id: uuidv7() },
    body: null,
    isBase64Encoded: false,
    requestContext: { requestId: 'none', identity: { sourceIp: '127.0.0.1' } },
  };
  const context = { getRemainingTimeInMillis: () => REHEARSAL_MS } as Context;
  await withAnyItem(() => withinInvocation(context, () => answer(event, context)));
}

/**
 * Begins the early reads. This function is asynchronous, so that it rejects even when `readEarly` throws instead of returning a promise.
 */
async function read<Early>(event: ApiEvent, readEarly?: EarlyReads<Early>): Promise<Early | undefined> {
  return readEarly?.({ event, caller: callerOf(event), param: (name) => paramOf(event, name) });
}

function callerOf({ caller }: ApiEvent): Caller {
  if (!caller) throw new ApiError('unauthorized');
  return caller;
}
