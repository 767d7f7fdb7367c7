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
import { type ApiFunction, type RouteRequest, routeStack } from './route-stack.ts';
import { warmUp } from './warm-up.ts';

/** What a handler gets of a request whose caller is known. */
export interface ApiRequest extends RouteRequest {
  readonly caller: Caller;
}

/** The routes that need a credential. */
type GuardedRouteName = {
  [Name in RouteName]: (typeof ROUTES)[Name]['access'] extends 'public' ? never : Name;
}[RouteName];

/** The hash of no token. Every route that needs a credential may read sessions. */
const NO_SESSION = 'none';

const stores = { keys: apiKeyCredentials, sessions: sessionCredentials, appUrl };

/** Builds the function of a route that needs a credential. Its checks come in the order of the contract. */
export function apiHandler(name: GuardedRouteName, handle: (request: ApiRequest) => Promise<ApiResult>): ApiFunction {
  const { access, rateClass } = ROUTES[name];
  const checks = [
    authenticate(stores, access), // 401
    crossSite(), // 403, only for a cookie
    rateLimit(rateClass, (event) => callerOf(event).accountId), // 429
  ];
  const answer = routeStack(name, checks, (request) => handle({ ...request, caller: callerOf(request.event) }));
  const warm = warmUp(() => stores.sessions.find(NO_SESSION));
  return async (event, context) => {
    await warm;
    return answer(event, context);
  };
}

function callerOf({ caller }: ApiEvent): Caller {
  if (!caller) throw new ApiError('unauthorized');
  return caller;
}
