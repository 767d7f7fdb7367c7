import { apiKeyCredentials } from '../aws/api-key-store.ts';
import { appUrl } from '../aws/parameters.ts';
import { sessionCredentials } from '../aws/session-store.ts';
import type { AnswerName, Answers } from '../contract/answers.ts';
import type { RateClass, RouteContract } from '../contract/route.ts';
import { ApiError } from '../errors.ts';
import type { ApiEvent, Caller } from '../http/request.ts';
import type { ApiResult } from '../http/response.ts';
import { authenticate } from './authenticate.ts';
import { crossSite } from './cross-site.ts';
import { rateLimit } from './rate-limit.ts';
import { type ApiFunction, type RouteRequest, routeStack } from './route-stack.ts';
import { warmUp } from './warm-up.ts';

/** What a handler gets of a request whose caller is known. */
export interface ApiRequest extends RouteRequest {
  readonly caller: Caller;
}

/** A route that needs a credential. */
type GuardedRoute = RouteContract & { readonly access: 'session' | 'key-or-session'; readonly rateClass: RateClass };

/** The body that the declaration of a route promises. */
type AnswerOf<Route extends RouteContract> = Answers[Extract<
  Route['operation']['successes'][number],
  { readonly body: AnswerName }
>['body']];

/** The hash of no token. Every route that needs a credential may read sessions. */
const NO_SESSION = 'none';

const stores = { keys: apiKeyCredentials, sessions: sessionCredentials, appUrl };

/** Builds the function of a route that needs a credential. Its checks come in the order of the contract. */
export function apiHandler<Route extends GuardedRoute>(
  route: Route,
  handle: (request: ApiRequest) => Promise<ApiResult<AnswerOf<Route>>>,
): ApiFunction {
  const { access, rateClass } = route;
  const checks = [
    authenticate(stores, access), // 401
    crossSite(), // 403, only for a cookie
    rateLimit(rateClass, (event) => callerOf(event).accountId), // 429
  ];
  const answer = routeStack(route, checks, (request) => handle({ ...request, caller: callerOf(request.event) }));
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
