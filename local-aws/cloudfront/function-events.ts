import { isDeepStrictEqual } from 'node:util';
import type { FunctionRequest, FunctionResponse, SetCookie, Value, ViewerRequestEvent } from 'cloudfront';
import type { HeaderMap } from './header-map.ts';
import type { ViewerRequest } from './viewer-request.ts';

/**
 * Headers that a function neither sees nor may add. Source: CloudFront Developer Guide, "Restrictions on all edge functions".
 */
const HIDDEN = new RegExp(
  `^(${[
    'connection|expect|keep-alive|proxy-(authenticate|authorization|connection)|trailer|upgrade',
    'x-accel-(buffering|charset|limit-rate|redirect)',
    'x-amz-cf-.*|x-amzn-(auth|cf-billing|cf-id|cf-xff|errortype|fle-profile|header-count|header-order)',
    'x-amzn-(lambda-integration-tag|requestid)|x-cache|x-edge-.*|x-forwarded-proto|x-real-ip',
  ].join('|')})$`,
);

/** Headers that a viewer-request function sees but may not change. Source: as {@link HIDDEN}. */
const READ_ONLY = ['cdn-loop', 'content-length', 'host', 'transfer-encoding', 'via'];

/** A result that CloudFront answers with 502 ("FunctionValidationError"). */
export class InvalidFunctionResult extends Error {}

export function toFunctionRequest(request: ViewerRequest): FunctionRequest {
  return {
    method: request.method,
    uri: request.path,
    querystring: pairs(request.query, '&'),
    headers: visibleHeaders(request.headers, 'cookie'),
    cookies: pairs((request.headers.get('cookie') ?? []).join('; '), ';'),
  };
}

/**
 * Reads the request that a viewer-request function returned. Query and cookies that the function did not change stay exactly
 * as the viewer wrote them.
 */
export function fromFunctionRequest(result: unknown, given: ViewerRequest): ViewerRequest {
  if (!isFunctionRequest(result)) throw new InvalidFunctionResult('neither a request nor a response');
  const before = toFunctionRequest(given);
  if (result.method !== before.method) throw new InvalidFunctionResult('method is read-only');
  if (typeof result.uri !== 'string' || !result.uri.startsWith('/'))
    throw new InvalidFunctionResult('uri has no slash');
  for (const name of READ_ONLY) {
    if (!isDeepStrictEqual(result.headers[name], before.headers[name]))
      throw new InvalidFunctionResult(`${name} is read-only`);
  }
  const headers = fromValues(result.headers, given.headers);
  const cookies = given.headers.get('cookie');
  if (!sameValues(result.cookies, before.cookies)) headers.set('cookie', [join(result.cookies, '; ')]);
  else if (cookies) headers.set('cookie', cookies);
  const query = sameValues(result.querystring, before.querystring) ? given.query : join(result.querystring, '&');
  return { ...given, path: result.uri, query, headers };
}

export function isFunctionResponse(result: unknown): result is FunctionResponse {
  return typeof result === 'object' && result !== null && 'statusCode' in result;
}

function isFunctionRequest(result: unknown): result is FunctionRequest {
  if (typeof result !== 'object' || result === null || !('uri' in result) || !('headers' in result)) return false;
  return typeof result.headers === 'object' && result.headers !== null;
}

export function toFunctionResponse(status: number, headers: HeaderMap): FunctionResponse {
  const cookies: Record<string, SetCookie> = Object.create(null);
  for (const line of headers.get('set-cookie') ?? []) {
    const [, name = '', value = '', attributes = ''] = /^([^=;]*)=?([^;]*);?\s*(.*)$/s.exec(line) ?? [];
    const cookie = attributes ? { value, attributes } : { value };
    add(cookies, name, cookie);
  }
  return { statusCode: status, headers: visibleHeaders(headers, 'set-cookie'), cookies };
}

/**
 * Reads the response that a function returned: status, headers and, if there is one, the body.
 * @param given  the headers of the response that the function was given. The function did not see the hidden ones.
 */
export function fromFunctionResponse(
  result: unknown,
  given: HeaderMap = new Map(),
): { status: number; headers: HeaderMap; body?: Buffer } {
  if (!isFunctionResponse(result)) throw new InvalidFunctionResult('not a response');
  const status = result.statusCode;
  if (!Number.isInteger(status) || status < 100 || status > 599) throw new InvalidFunctionResult(`status ${status}`);
  const headers = fromValues(result.headers ?? {}, given);
  const cookies = Object.entries(result.cookies ?? {}).flatMap(([name, cookie]) =>
    all(cookie).map(({ value, attributes }) => `${name}=${value}${attributes ? `; ${attributes}` : ''}`),
  );
  if (cookies.length > 0) headers.set('set-cookie', cookies);
  if (result.body === undefined) return { status, headers };
  const { encoding, data } = typeof result.body === 'string' ? { encoding: 'text', data: result.body } : result.body;
  return { status, headers, body: Buffer.from(data, encoding === 'base64' ? 'base64' : 'utf8') };
}

/** The parts of an event besides its request and response. */
export function eventContext(eventType: string, request: ViewerRequest): Omit<ViewerRequestEvent, 'request'> {
  return {
    version: '1.0',
    context: {
      distributionDomainName: 'local.cloudfront.net',
      distributionId: 'LOCAL',
      eventType,
      requestId: request.id,
    },
    viewer: { ip: request.ip },
  };
}

function visibleHeaders(headers: HeaderMap, exceptName: string): Record<string, Value> {
  const visible: Record<string, Value> = Object.create(null);
  for (const [name, values] of headers) {
    if (name === exceptName || HIDDEN.test(name)) continue;
    for (const value of values) add(visible, name, { value });
  }
  return visible;
}

/** @param given  the headers of the request or response that the function was given. Headers that the function did not see stay. */
function fromValues(values: Record<string, Value>, given: HeaderMap): HeaderMap {
  const headers: HeaderMap = new Map([...given].filter(([name]) => HIDDEN.test(name)));
  for (const [name, value] of Object.entries(values)) {
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) throw new InvalidFunctionResult(`header name "${name}"`);
    if (HIDDEN.test(name)) throw new InvalidFunctionResult(`a function may not set ${name}`);
    const texts = value ? all(value).map((item) => item.value) : [];
    const isWritable = (text: unknown) => typeof text === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
    if (texts.length === 0 || !texts.every(isWritable)) throw new InvalidFunctionResult(`the value of ${name}`);
    headers.set(name, texts);
  }
  return headers;
}

/** Reads `a=1&b=2`, or cookies with `;` in between. Names and values stay encoded. */
function pairs(text: string, separator: '&' | ';'): Record<string, Value> {
  const found: Record<string, Value> = Object.create(null);
  for (const part of text.split(separator)) {
    const pair = separator === ';' ? part.trim() : part;
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    add(found, equals === -1 ? pair : pair.slice(0, equals), { value: equals === -1 ? '' : pair.slice(equals + 1) });
  }
  return found;
}

function add<T extends { value: string; multiValue?: { value: string }[] }>(
  all: Record<string, T>,
  name: string,
  item: T,
) {
  const first = all[name];
  if (first) first.multiValue = [...(first.multiValue ?? [{ ...first }]), item];
  else all[name] = item;
}

function all<T extends { value: string; multiValue?: unknown[] }>(item: T): T[] {
  return (item.multiValue as T[] | undefined) ?? [item];
}

function sameValues(a: object | undefined, b: object): boolean {
  return isDeepStrictEqual({ ...a }, { ...b });
}

function join(values: Record<string, Value> | undefined, separator: string): string {
  return Object.entries(values ?? {})
    .flatMap(([name, item]) => all(item).map(({ value }) => `${name}=${value}`))
    .join(separator);
}
