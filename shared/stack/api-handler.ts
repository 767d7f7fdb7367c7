import { apiKeyCredentials } from '../aws/api-key-store.ts';
import { appUrl } from '../aws/parameters.ts';
import { sessionStore } from '../aws/session-store.ts';
import { ApiError } from '../errors.ts';
import type { ApiEvent, Caller } from '../http/request.ts';
import type { ApiResult } from '../http/response.ts';
import { ROUTES, type RouteName } from '../routes.ts';
import { authenticate } from './authenticate.ts';
import { crossSite } from './cross-site.ts';
import { rateLimit } from './rate-limit.ts';
import { type ApiFunction, paramOf, type RouteRequest, routeStack } from './route-stack.ts';

/** What a handler gets of a request whose caller is known. `Early` is what the route's early reads find. */
export interface ApiRequest<Early = unknown> extends RouteRequest {
  readonly caller: Caller;
  /** Rejects when the early reads failed. A handler that does not need them may leave it alone. */
  readonly early: Promise<Early>;
}

/**
 * The reads that a route begins as soon as the caller is known, while the rate limiter decides. They change nothing and are
 * few, because a request that the limiter then refuses must have no effect but its count. Only the handler sees their errors:
 * when both fail, the limiter's 429 or 503 is the answer. Reads that are still under way when the request is answered are
 * aborted.
 */
type EarlyReads<Early> = (request: Pick<ApiRequest, 'event' | 'caller' | 'param'>) => Promise<Early>;

/** The routes that need a credential. */
type GuardedRouteName = {
  [Name in RouteName]: (typeof ROUTES)[Name]['access'] extends 'public' ? never : Name;
}[RouteName];

const stores = { keys: apiKeyCredentials, sessions: sessionStore, appUrl };

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
  return routeStack(name, checks, (request) => {
    const { event } = request;
    return handle({ ...request, caller: callerOf(event), early: reads.get(event) as Promise<Early> });
  });
}

/** It is asynchronous, so that it rejects even when `readEarly` throws instead of returning a promise. */
async function read<Early>(event: ApiEvent, readEarly?: EarlyReads<Early>): Promise<Early | undefined> {
  return readEarly?.({ event, caller: callerOf(event), param: (name) => paramOf(event, name) });
}

function callerOf({ caller }: ApiEvent): Caller {
  if (!caller) throw new ApiError('unauthorized');
  return caller;
}
