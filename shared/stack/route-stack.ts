import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import type { RouteContract } from '../contract/route.ts';
import { type ApiError, asApiError } from '../errors.ts';
import { type ApiEvent, header, loggedAddress, receivedBytes } from '../http/request.ts';
import type { ApiResult } from '../http/response.ts';
import { isUuid } from '../ids.ts';
import { type AuditEvent, audit, describeError, log } from '../log.ts';
import { measure } from '../metrics.ts';
import { type Deadline, deadlineOf, inTime, withinInvocation } from '../time-limit.ts';

export type ApiFunction = (event: ApiEvent, context: Context) => Promise<ApiResult>;
export type Middleware = middy.MiddlewareObj<ApiEvent, ApiResult>;

/** What a handler gets of a request. */
export interface RouteRequest extends Deadline {
  readonly event: ApiEvent;
  /** A path parameter; empty when the route has none of that name. */
  param(name: string): string;
}

/**
 * An id in a path. A UUID may be written in upper case (RFC 9562, section 4), as Swift does; ours are in lower case. REST APIs do not decode
 * path parameters.
 */
function paramOf(event: ApiEvent, name: string): string {
  const encoded = event.pathParameters?.[name] ?? '';
  return encoded.replace(/%([0-7][0-9a-f])/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))).toLowerCase();
}

/**
 * Builds the function of a route: the stack that every route has, around the route's own checks and `handle`. `before` hooks run in the
 * order of `.use`, so the checks run in the order of `checks`. `after` and `onError` hooks run in the reverse order, so the error is shaped
 * first and the log sees the final answer.
 *
 * All of it runs within the time limit of the invocation (`time-limit.ts`), which ends a moment before Lambda's. Then all calls to AWS are
 * aborted, also those of the checks, and the client gets `timeout`, whatever `handle` is waiting for.
 */
export function routeStack(
  route: Pick<RouteContract, 'name' | 'rateClass'>,
  checks: readonly Middleware[],
  handle: (request: RouteRequest) => Promise<ApiResult>,
): ApiFunction {
  // 0 turns off middy's own time limit, which does not cover the checks.
  const stack = middy<ApiEvent, ApiResult>({ timeoutEarlyInMillis: 0 })
    .use(requestLog(route)) // outermost: sees every outcome
    .use(baseHeaders());
  for (const check of checks) stack.use(check);
  stack.use(errorResponse()); // last: see above
  const answer = stack.handler((event: ApiEvent, context: Context) =>
    inTime(
      handle({
        event,
        param: (parameter) => paramOf(event, parameter),
        ...deadlineOf(context),
      }),
    ),
  ) as ApiFunction;
  return (event, context) => withinInvocation(context, () => answer(event, context));
}

/**
 * Logs one line for each request: request id, account, key prefix, client address, route, method, the id of the file, ticket or key,
 * length, status and time; for an error also its code, detail and numbers; for our own failures also the cause. The line never has a name,
 * credential, query or body (decision 0029). This middleware also counts the answers with an error.
 */
function requestLog({ name, rateClass }: Pick<RouteContract, 'name' | 'rateClass'>): Middleware {
  type Request = middy.Request<ApiEvent, ApiResult, Error, Context, { startedAt?: number }>;
  function requestLogBefore(request: Request): void {
    request.internal.startedAt = performance.now();
  }
  function requestLogAfter({ event, response, error, internal }: Request): void {
    const status = response?.statusCode ?? 500;
    const refusal = error && asApiError(error);
    const { code, status: failure = 0 } = refusal ?? {};
    // The login redirects a browser whatever has failed, so the status of the answer alone would not show a failure.
    const isOurs = Math.max(status, failure) >= 500;
    log(isOurs ? 'error' : 'info', 'request', {
      request_id: event.requestContext.requestId,
      route: name,
      method: event.httpMethod,
      status,
      ms: Math.round(performance.now() - (internal.startedAt ?? performance.now())),
      ...describeClient(event),
      ...describeTarget(event, response),
      ...(code && { code }),
      ...(refusal && { ...(refusal.message !== code && { detail: refusal.message }), ...refusal.facts }),
      // Only our own failures need a stack trace: a refusal is explained by its code and detail.
      ...(error && isOurs && describeError(error)),
    });
    if (!code) return;
    measure({ Code: code }, { Rejections: 1 });
    if (code === 'rate_limit_exceeded' && rateClass) measure({ RateClass: rateClass }, { RateLimited: 1 });
    if (event.stream && status >= 500) measure({}, { StreamingFailures: 1 });
  }
  return { before: requestLogBefore, after: requestLogAfter, onError: requestLogAfter };
}

/** The account, the key prefix and the address of a request, for the log. */
function describeClient(event: ApiEvent): Record<string, unknown> {
  const { caller, refusedKeyPrefix } = event;
  const keyPrefix = caller?.keyPrefix ?? refusedKeyPrefix;
  return {
    ...(caller && { account_id: caller.accountId, by: caller.by }),
    ...(keyPrefix !== undefined && { key_prefix: keyPrefix }),
    client_address: loggedAddress(event),
  };
}

/** The file, ticket or key of a request, and how many bytes came with it, for the log. */
function describeTarget(event: ApiEvent, response: ApiResult | null | undefined): Record<string, unknown> {
  const location = String(response?.headers?.Location ?? '');
  const id = /^\/api\/v1\/[\w/-]+\/([\w-]+)$/.exec(location)?.[1] ?? paramOf(event, 'id');
  const bytes = receivedBytes(event);
  // Only a UUID is logged, because a client can put any text into a path.
  return { ...(isUuid(id) && { resource_id: id }), ...(bytes > 0 && { request_bytes: bytes }) };
}

/** The fields of a line of the audit trail, besides those about the client. They have no secret, and no name of a file or key. */
interface AuditFields {
  /** Absent when the account is unknown, as for a refused login. */
  readonly account_id?: string;
  /** The id of the session that began or ended. */
  readonly session?: string;
  /** The session that this browser had before. */
  readonly replaced_session?: string;
  readonly sessions?: number;
  readonly key_id?: string;
  readonly key_prefix?: string;
  readonly code?: string;
}

const USER_AGENT_MAX = 256;
/** A word long enough to be a key or token, or a part of one. The words in the names of browsers and programs are shorter. */
const LONG_WORD = /[\w-]{16,}/g;

/**
 * Writes what a request has done into the audit trail (decision 0035), right after the request has done it. If the process dies in between,
 * this line is missing. Then only the rows and the line of the gateway show what happened. In the user agent, double quotes become single
 * ones. Otherwise a client could write text that a saved query takes for a field of the line.
 */
export function auditRequest(event: ApiEvent, what: AuditEvent, fields: AuditFields): void {
  audit(what, {
    ...fields,
    request_id: event.requestContext.requestId,
    client_address: loggedAddress(event),
    user_agent: (header(event, 'user-agent') ?? '')
      .slice(0, USER_AGENT_MAX)
      .replace(LONG_WORD, '…')
      .replaceAll('"', "'"),
  });
}

/** Adds the headers that every answer carries, errors included: the request id, `no-store`, `nosniff`. */
function baseHeaders(): Middleware {
  function addBaseHeaders({ event, response }: middy.Request<ApiEvent, ApiResult>): void {
    if (!response) return;
    response.headers = {
      ...response.headers,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': event.requestContext.requestId,
    };
  }
  return { after: addBaseHeaders, onError: addBaseHeaders };
}

/** The longest `Error-Detail`. */
const DETAIL_MAX = 200;

/** Turns a thrown error into the answer `{"error": code}`. A refusal says why in `Error-Detail`; of our own failures only the log knows more. */
function errorResponse(): Middleware {
  function errorResponseOnError(request: middy.Request<ApiEvent, ApiResult>): void {
    const error = asApiError(request.error);
    request.response = {
      statusCode: error.status,
      headers: { 'Content-Type': 'application/json', ...error.headers, ...(error.status < 500 && detailOf(error)) },
      body: JSON.stringify({ error: error.code }),
    };
  }
  return { onError: errorResponseOnError };
}

/** Why a request was refused, with the numbers that explain it, in printable ASCII. */
function detailOf({ code, message, facts }: ApiError): Record<string, string> {
  const numbers = Object.entries(facts).map(([name, value]) => `${name}=${value}`);
  const parts = [...(message === code ? [] : [message]), ...numbers];
  const detail = parts
    .join('; ')
    .replaceAll(/[^ -~]/g, '?')
    .slice(0, DETAIL_MAX);
  return detail === '' ? {} : { 'Error-Detail': detail };
}
