import type { LimitName } from './limits.ts';
import type { Operation } from './operation.ts';

/** `key-or-session`: an API key or a session cookie. `session`: only a cookie, so that a leaked key cannot make keys. */
export type Access = 'public' | 'session' | 'key-or-session';

/**
 * The classes in which requests are counted, and the configurable limit of each for a minute. Requests are counted per account, or per
 * client address for the two classes of the login.
 */
export const RATE_CLASSES = {
  uploads: 'RATE_LIMIT_UPLOADS_PER_MINUTE',
  lists: 'RATE_LIMIT_LISTS_PER_MINUTE',
  requests: 'RATE_LIMIT_REQUESTS_PER_MINUTE',
  'login-starts': 'RATE_LIMIT_LOGIN_STARTS_PER_MINUTE',
  // The same limit as for the starts of logins, in a window of its own. If starts and callbacks shared a window, a login would count twice.
  'login-callbacks': 'RATE_LIMIT_LOGIN_STARTS_PER_MINUTE',
} as const satisfies Record<string, LimitName>;

export type RateClass = keyof typeof RATE_CLASSES;

/** What clients see of a route. `shared/route.ts` adds what the route needs to run. */
export interface RouteContract {
  /** The name in logs and metrics, and the `operationId` of the OpenAPI document. */
  readonly name: string;
  /** A GET route answers HEAD as well ({@link methodsOf}). */
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** In API Gateway's notation: a parameter is `{id}`. */
  readonly path: string;
  readonly access: Access;
  /** Absent when requests are not counted. */
  readonly rateClass?: RateClass;
  /** One line for tables. */
  readonly purpose: string;
  readonly operation: Operation;
}

/**
 * The methods that a route answers: a GET route answers HEAD as well (RFC 9110, section 9.1). The same function gives both the
 * same answer; the gateway leaves out the body.
 */
export const methodsOf = ({ method }: Pick<RouteContract, 'method'>): readonly string[] =>
  method === 'GET' ? ['GET', 'HEAD'] : [method];
