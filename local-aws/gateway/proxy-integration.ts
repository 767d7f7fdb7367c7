import { type IncomingMessage, STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http';
import type { Route } from './find-route.ts';
import type { HttpAnswer } from './gateway-response.ts';
import type { RequestContext } from './request-context.ts';
import type { RestApi } from './rest-api.ts';

/**
 * Request headers that do not reach a function. Source: API Gateway Developer Guide, "Important notes", table of headers. `Content-Length` is
 * missing in the events of proxy integrations that others have recorded.
 */
const DROPPED_FROM_REQUEST =
  /^(connection|content-(?:length|md5)|expect|max-forwards|proxy-authenticate|server|te|trailer|upgrade|www-authenticate)$/i;

type Lists = Readonly<Record<string, readonly string[]>>;

/**
 * The event of a Lambda proxy integration, format 1.0.
 * Source: API Gateway Developer Guide, "Input format of a Lambda function for proxy integration".
 * @param request  its `body` has at most 10 MiB.
 */
export function proxyEvent(
  api: RestApi,
  route: Route,
  context: RequestContext,
  request: {
    readonly message: IncomingMessage;
    readonly path: string;
    readonly query: string;
    readonly body: Buffer;
    readonly traceId: string;
  },
): object {
  const headers = eventHeaders(request.message, context, request.traceId);
  const query = queryParameters(request.query);
  const isBinary = isBinaryType(api.binaryMediaTypes, request.message.headers['content-type']);
  const { body } = request;
  return {
    resource: route.resource.path,
    path: request.path,
    httpMethod: context.httpMethod,
    headers: lastValues(headers),
    multiValueHeaders: headers,
    queryStringParameters: orNull(lastValues(query)),
    multiValueQueryStringParameters: orNull(query),
    pathParameters: orNull(route.pathParameters),
    stageVariables: orNull(api.stageVariables),
    requestContext: { ...context, identity: { ...NO_IDENTITY, ...context.identity } },
    body: body.length === 0 ? null : body.toString(isBinary ? 'base64' : 'utf8'),
    isBase64Encoded: isBinary && body.length > 0,
  };
}

const NO_IDENTITY = {
  accessKey: null,
  accountId: null,
  caller: null,
  cognitoAuthenticationProvider: null,
  cognitoAuthenticationType: null,
  cognitoIdentityId: null,
  cognitoIdentityPoolId: null,
  principalOrgId: null,
  user: null,
  userArn: null,
};

function eventHeaders(message: IncomingMessage, context: RequestContext, traceId: string): Lists {
  const headers: Record<string, string[]> = Object.create(null);
  const { rawHeaders } = message;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (!isDropped(name, rawHeaders[index + 1] ?? '')) {
      headers[name] = [...(headers[name] ?? []), rawHeaders[index + 1] ?? ''];
    }
  }
  const { sourceIp } = context.identity;
  const forwarded = message.headers['x-forwarded-for'];
  setHeader(headers, 'Host', context.domainName);
  setHeader(headers, 'X-Amzn-Trace-Id', traceId.replace(/;.*/s, ''));
  setHeader(headers, 'X-Forwarded-For', forwarded === undefined ? sourceIp : `${forwarded}, ${sourceIp}`);
  setHeader(headers, 'X-Forwarded-Port', '443');
  setHeader(headers, 'X-Forwarded-Proto', 'https');
  return headers;
}

/** The gateway removes AWS signatures. */
function isDropped(name: string, value: string): boolean {
  return DROPPED_FROM_REQUEST.test(name) || (/^authorization$/i.test(name) && value.startsWith('AWS4-HMAC-SHA256'));
}

function setHeader(headers: Record<string, string[]>, name: string, value: string): void {
  for (const other of Object.keys(headers)) if (other.toLowerCase() === name.toLowerCase()) delete headers[other];
  headers[name] = [value];
}

/** The parameters of a query, decoded. REST APIs split a query at semicolons as well. */
function queryParameters(query: string): Lists {
  const parameters: Record<string, string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(query.replaceAll(';', '&'))) {
    parameters[name] = [...(parameters[name] ?? []), value];
  }
  return parameters;
}

function lastValues(lists: Lists): Record<string, string> {
  return Object.fromEntries(Object.entries(lists).map(([name, values]) => [name, values.at(-1) ?? '']));
}

function orNull<T extends object>(values: T): T | null {
  return Object.keys(values).length > 0 ? values : null;
}

/** A body without a type counts as JSON. */
function isBinaryType(binaryMediaTypes: readonly string[], contentType = 'application/json'): boolean {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  return binaryMediaTypes.some((pattern) => {
    const [kind, subtype] = pattern.toLowerCase().split('/');
    const [givenKind, givenSubtype] = type.split('/');
    return (kind === '*' || kind === givenKind) && (subtype === '*' || subtype === givenSubtype);
  });
}

/** Response headers that are renamed to `X-Amzn-Remapped-…`. Source: API Gateway Developer Guide, "Important notes", table of headers. */
const REMAPPED = /^(authorization|connection|content-md5|date|max-forwards|server|user-agent|www-authenticate)$/i;
/** Response headers that are removed. Source: as {@link REMAPPED}. */
const DROPPED_FROM_RESPONSE = /^(expect|host|proxy-authenticate|te|transfer-encoding|trailer|upgrade|via)$/i;
/** The gateway sets the length itself. */
const MEASURED = /^content-length$/i;

type Header = readonly [name: string, value: string];

/**
 * Makes the answer of a function's result. Every part of it may be missing, but other parts may not be there.
 * @returns undefined when the result is not an answer ("malformed Lambda proxy response").
 * Source: API Gateway Developer Guide, "Output format of a Lambda function for proxy integration"; LocalStack's tests against AWS.
 * @param accept  the client's `Accept`. The gateway looks only at its first media type.
 */
export function proxyResult(payload: string, api: RestApi, accept: string | undefined): HttpAnswer | undefined {
  const result: unknown = JSON.parse(payload);
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return undefined;
  const {
    statusCode = 200,
    headers,
    multiValueHeaders,
    body,
    isBase64Encoded,
    ...unknown
  } = result as Record<string, unknown>;
  const status = Number(statusCode);
  if (Object.keys(unknown).length > 0) return undefined;
  if (!(status in STATUS_CODES) || (isBase64Encoded !== undefined && typeof isBase64Encoded !== 'boolean')) {
    return undefined;
  }
  if (body !== undefined && body !== null && typeof body !== 'string') return undefined;
  const single = readHeaders(headers, (value) => typeof value === 'string' || typeof value === 'boolean');
  const multiple = readHeaders(multiValueHeaders, (value) => Array.isArray(value) && value.every(isScalar));
  if (!single || !multiple || ![...single, ...multiple].every(canBeSent)) return undefined;
  const all = merge(single, multiple);
  const type = all.find(([name]) => /^content-type$/i.test(name))?.[1];
  const isBinary = isBase64Encoded === true && isBinaryType(api.binaryMediaTypes, accept?.split(',')[0] ?? type);
  return {
    status,
    headers: [
      ...(type === undefined ? [['Content-Type', 'application/json'] as const] : []),
      ...all.flatMap(returnedHeader),
    ],
    body: Buffer.from(body ?? '', isBinary ? 'base64' : 'utf8'),
  };
}

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);

/** @returns undefined when they are invalid. */
function readHeaders(given: unknown, isValid: (value: unknown) => boolean): Header[] | undefined {
  if (given === undefined || given === null) return [];
  if (typeof given !== 'object' || !Object.values(given).every(isValid)) return undefined;
  return Object.entries(given).flatMap(([name, value]) => [value].flat().map((item): Header => [name, String(item)]));
}

function canBeSent([name, value]: Header): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

/** When a name is in both, the single value counts only if it is not in the list. */
function merge(single: readonly Header[], multiple: readonly Header[]): Header[] {
  const isListed = ([name, value]: Header) =>
    multiple.some(([other, item]) => other.toLowerCase() === name.toLowerCase() && item === value);
  return [...single.filter((header) => !isListed(header)), ...multiple];
}

function returnedHeader([name, value]: Header): Header[] {
  if (DROPPED_FROM_RESPONSE.test(name) || MEASURED.test(name)) return [];
  return [[REMAPPED.test(name) ? `X-Amzn-Remapped-${name}` : name, value]];
}
