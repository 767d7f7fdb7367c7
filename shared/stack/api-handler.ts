import { apiKeyCredentials } from '../aws/api-key-store.ts';
import { appUrl } from '../aws/parameters.ts';
import { sessionStore } from '../aws/session-store.ts';
import { ApiError } from '../errors.ts';
import type { Caller } from '../http/request.ts';
import type { ApiResult } from '../http/response.ts';
import { ROUTES, type RouteName } from '../routes.ts';
import { authenticate } from './authenticate.ts';
import { crossSite } from './cross-site.ts';
import { rateLimit } from './rate-limit.ts';
import { type ApiFunction, type RouteRequest, routeStack } from './route-stack.ts';

export interface ApiRequest extends RouteRequest {
  readonly caller: Caller;
}

/** The routes that need a credential. */
type GuardedRouteName = {
  [Name in RouteName]: (typeof ROUTES)[Name]['access'] extends 'public' ? never : Name;
}[RouteName];

const stores = { keys: apiKeyCredentials, sessions: sessionStore, appUrl };

/** Builds the function of a route that needs a credential. Its checks come in the order of the contract. */
export function apiHandler(name: GuardedRouteName, handle: (request: ApiRequest) => Promise<ApiResult>): ApiFunction {
  const { access, rateClass } = ROUTES[name];
  const checks = [
    authenticate(stores, access), // 401
    crossSite(), // 403, only for a cookie
    rateLimit(rateClass), // 429
  ];
  return routeStack(name, checks, (request) => {
    const { caller } = request.event;
    if (!caller) throw new ApiError('unauthorized');
    return handle({ ...request, caller });
  });
}
