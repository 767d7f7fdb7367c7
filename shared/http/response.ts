import type { ApiResult } from './event.ts';

/** 200 with a JSON object. */
export const ok = (body: object): ApiResult => json(200, body);

/** 201 with the created object, and where it is. */
export const created = (body: object, location: string, headers: Record<string, string> = {}): ApiResult =>
  json(201, body, { Location: location, ...headers });

/** 202: accepted, the rest is up to the client. */
export const accepted = (body: object, location: string, headers: Record<string, string> = {}): ApiResult =>
  json(202, body, { Location: location, ...headers });

/** 302 to an address, with the cookies to set. */
export const redirect = (location: string, cookies: readonly string[]): ApiResult => ({
  statusCode: 302,
  headers: { Location: location },
  multiValueHeaders: { 'Set-Cookie': [...cookies] },
  body: '',
});

function json(statusCode: number, body: object, headers: Record<string, string> = {}): ApiResult {
  return { statusCode, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) };
}
