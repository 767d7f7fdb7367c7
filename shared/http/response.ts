import type { APIGatewayProxyResult } from 'aws-lambda';

export type ApiResult = APIGatewayProxyResult;

/** 200 with a JSON object. */
export const ok = (body: object): ApiResult => json(200, body);

/** 201 with the created object, and its address. */
export const created = (body: object, location: string, headers: Record<string, string> = {}): ApiResult =>
  json(201, body, { Location: location, ...headers });

/** 202: accepted; the client has to make the next request. */
export const accepted = (body: object, location: string, headers: Record<string, string> = {}): ApiResult =>
  json(202, body, { Location: location, ...headers });

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

function json(statusCode: number, body: object, headers: Record<string, string> = {}): ApiResult {
  return { statusCode, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) };
}
