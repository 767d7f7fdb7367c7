import type { IncomingMessage } from 'node:http';
import type { Route } from './find-route.ts';
import type { RequestContext } from './request-context.ts';
import type { RestApi } from './rest-api.ts';

/** Never reach a function. Source: API Gateway Developer Guide, "Important notes", table of headers. */
const DROPPED_FROM_REQUEST =
  /^(connection|content-md5|expect|max-forwards|proxy-authenticate|server|te|trailer|upgrade|www-authenticate)$/i;

type Lists = Readonly<Record<string, readonly string[]>>;

/**
 * The event of a Lambda proxy integration, format 1.0.
 * Source: API Gateway Developer Guide, "Input format of a Lambda function for proxy integration".
 * @param body  of at most 10 MiB.
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

/** AWS's own signatures are not for functions. */
function isDropped(name: string, value: string): boolean {
  return DROPPED_FROM_REQUEST.test(name) || (/^authorization$/i.test(name) && value.startsWith('AWS4-HMAC-SHA256'));
}

function setHeader(headers: Record<string, string[]>, name: string, value: string): void {
  for (const other of Object.keys(headers)) if (other.toLowerCase() === name.toLowerCase()) delete headers[other];
  headers[name] = [value];
}

/** Decoded, and split also at semicolons, as REST APIs do. */
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
export function isBinaryType(binaryMediaTypes: readonly string[], contentType = 'application/json'): boolean {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  return binaryMediaTypes.some((pattern) => {
    const [kind, subtype] = pattern.toLowerCase().split('/');
    const [givenKind, givenSubtype] = type.split('/');
    return (kind === '*' || kind === givenKind) && (subtype === '*' || subtype === givenSubtype);
  });
}
