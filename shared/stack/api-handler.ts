import { ApiError } from '../errors.ts';
import type { ApiResult, Caller } from '../http/event.ts';
import { ROUTES, type RouteName } from '../routes.ts';
import { authenticate } from './authenticate.ts';
import { crossSite } from './cross-site.ts';
import { rateLimit } from './rate-limit.ts';
import { type ApiFunction, type RouteRequest, routeStack } from './route-stack.ts';

export interface ApiRequest extends RouteRequest {
  /** Who asks. */
  readonly caller: Caller;
}

/** The routes that ask for a credential. */
type GuardedRouteName = {
  [Name in RouteName]: (typeof ROUTES)[Name]['access'] extends 'public' ? never : Name;
}[RouteName];

/**
 * A function for a route that asks for a credential, with the checks in the contract's order. (Unknown routes and methods
 * never get here.)
 */
export function apiHandler(name: GuardedRouteName, handle: (request: ApiRequest) => Promise<ApiResult>): ApiFunction {
  const { access, rateClass } = ROUTES[name];
  const checks = [
    authenticate(access), // 401
    crossSite(), // 403, of a cookie alone
    rateLimit(rateClass), // 429
  ];
  return routeStack(name, checks, (request) => {
    const { caller } = request.event;
    if (!caller) throw new ApiError('unauthorized');
    return handle({ ...request, caller });
  });
}
