import type { APIGatewayProxyResult } from 'aws-lambda';

/** Only for the compiler: the type of the body, which the declaration of the route has promised. */
declare const BODY: unique symbol;

/** An answer. `Body` is the type of its JSON body. */
export type ApiResult<Body extends object = object> = APIGatewayProxyResult & { readonly [BODY]?: Body };

/** 200 with a JSON object. */
export const ok = <Body extends object>(body: Body): ApiResult<Body> => json(200, body);

/** 201 with the created object, and its address. */
export const created = <Body extends object>(
  body: Body,
  location: string,
  headers: Record<string, string> = {},
): ApiResult<Body> => json(201, body, { Location: location, ...headers });

/** 202: accepted; the client has to make the next request. */
export const accepted = <Body extends object>(
  body: Body,
  location: string,
  headers: Record<string, string> = {},
): ApiResult<Body> => json(202, body, { Location: location, ...headers });

/** 302 to an address, with the cookies to set. */
export const redirect = (location: string, cookies: readonly string[]): ApiResult => ({
  statusCode: 302,
  headers: { Location: location },
  multiValueHeaders: { 'Set-Cookie': [...cookies] },
  body: '',
});

/** The header that marks the answer of an earlier request with the same `Idempotency-Key`. */
export const replayedHeader = (isReplay: boolean): Record<string, string> =>
  isReplay ? { 'Idempotency-Replayed': 'true' } : {};

function json<Body extends object>(
  statusCode: number,
  body: Body,
  headers: Record<string, string> = {},
): ApiResult<Body> {
  return { statusCode, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) };
}
