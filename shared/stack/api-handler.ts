import { apiKeyCredentials } from '../aws/api-key-store.ts';
import { appUrl } from '../aws/parameters.ts';
import { sessionCredentials } from '../aws/session-store.ts';
import { ApiError } from '../errors.ts';
import type { ApiEvent, Caller } from '../http/request.ts';
import type { ApiResult } from '../http/response.ts';
import { ROUTES, type RouteName } from '../routes.ts';
import { authenticate } from './authenticate.ts';
import { crossSite } from './cross-site.ts';
import { rateLimit } from './rate-limit.ts';
import { type ApiFunction, paramOf, type RouteRequest, routeStack } from './route-stack.ts';
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

/** The routes that need a credential. */
type GuardedRouteName = {
  [Name in RouteName]: (typeof ROUTES)[Name]['access'] extends 'public' ? never : Name;
}[RouteName];

/** The hash of no token. Every route that needs a credential may read sessions. */
const NO_SESSION = 'none';

const stores = { keys: apiKeyCredentials, sessions: sessionCredentials, appUrl };

/** Builds the function of a route that needs a credential. Its checks come in the order of the contract. */
export function apiHandler<Early = unknown>(
  name: GuardedRouteName,
  handle: (request: ApiRequest<Early>) => Promise<ApiResult>,
  readEarly?: EarlyReads<Early>,
): ApiFunction {
  const { access, rateClass } = ROUTES[name];
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
  const answer = routeStack(name, checks, (request) => {
    const { event } = request;
    return handle({ ...request, caller: callerOf(event), early: reads.get(event) as Promise<Early> });
  });
  const warm = warmUp(() => stores.sessions.find(NO_SESSION));
  return async (event, context) => {
    await warm;
    return answer(event, context);
  };
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
