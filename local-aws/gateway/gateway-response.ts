import type { RequestContext } from './request-context.ts';
import type { ConfiguredResponse, ResponseType, RestApi } from './rest-api.ts';

/** An answer to a client. */
export interface HttpAnswer {
  readonly status: number;
  /** The headers, in the order in which they are sent. A name may come more than once. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** Which error of the gateway itself this is; absent for the answer of a function, and for an error that no template can change. */
  readonly errorType?: ResponseType;
}

/** An error that the gateway itself answers with. */
export interface GatewayError {
  readonly type: ResponseType;
  /** AWS's status, unless the template gives another. */
  readonly status: number;
  readonly message: string;
  /** The value of the header `x-amzn-ErrorType`. */
  readonly errorType: string;
}

/** The errors of the gateway. Source: API Gateway Developer Guide, "Gateway response types". */
export const GATEWAY_ERRORS = {
  unknownRoute: {
    type: 'MISSING_AUTHENTICATION_TOKEN',
    status: 403,
    message: 'Missing Authentication Token',
    errorType: 'MissingAuthenticationTokenException',
  },
  throttled: { type: 'THROTTLED', status: 429, message: 'Too Many Requests', errorType: 'TooManyRequestsException' },
  noApiKey: { type: 'INVALID_API_KEY', status: 403, message: 'Forbidden', errorType: 'ForbiddenException' },
  timeout: {
    type: 'INTEGRATION_TIMEOUT',
    status: 504,
    message: 'Endpoint request timed out',
    errorType: 'InternalServerErrorException',
  },
  /** The function failed, or returned no valid answer. AWS documents 504, but others measured 502. */
  functionFailed: internal('INTEGRATION_FAILURE', 502),
  /** Lambda refused to run the function. Source: Lambda Developer Guide, "Handling Lambda errors with an API Gateway API". */
  functionRefused: internal('INTEGRATION_FAILURE', 500),
  /** The policy of the function does not allow the gateway to invoke it. */
  notPermitted: internal('API_CONFIGURATION_ERROR', 500),
} as const satisfies Record<string, GatewayError>;

function internal(type: ResponseType, status: number): GatewayError {
  return { type, status, message: 'Internal server error', errorType: 'InternalServerErrorException' };
}

/** The error for an `Authorization` header that AWS takes for a malformed signature. */
export function notASignature(authorization: string): GatewayError {
  const [word = ''] = authorization.split(/[\s,]/).slice(1);
  return {
    type: 'INVALID_SIGNATURE',
    status: 403,
    message: `'${word}' not a valid key=value pair (missing equal-sign) in Authorization header: '${authorization}'.`,
    errorType: 'IncompleteSignatureException',
  };
}

/** The answer to an error: what the template configures for its type, otherwise for its class (4XX or 5XX), otherwise AWS's own answer. */
export function gatewayResponse(error: GatewayError, api: RestApi, context: RequestContext): HttpAnswer {
  const configured =
    api.responses.get(error.type) ?? api.responses.get(error.status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX');
  const template = configured?.template ?? {
    contentType: 'application/json',
    text: '{"message":$context.error.messageString}',
  };
  const values = contextValues(error, context);
  const text = template.text.replace(/\$context\.([\w.]+)|\$stageVariables\.(\w+)/g, (all, name, variable) =>
    variable === undefined ? (values[name] ?? all) : (api.stageVariables[variable] ?? ''),
  );
  return {
    status: configured?.status ?? error.status,
    headers: [
      ['Content-Type', template.contentType],
      ['x-amzn-ErrorType', error.errorType],
      ...mappedHeaders(configured, values),
    ],
    body: Buffer.from(text),
    errorType: error.type,
  };
}

function mappedHeaders(
  configured: ConfiguredResponse | undefined,
  values: Readonly<Record<string, string>>,
): [name: string, value: string][] {
  return Object.entries(configured?.headers ?? {}).map(([name, mapping]) => {
    const fixed = /^'(.*)'$/s.exec(mapping)?.[1];
    const value = fixed ?? values[mapping.replace(/^context\./, '')];
    if (value === undefined) throw new Error(`the local gateway does not know the mapping ${mapping}`);
    return [name, value];
  });
}

/** The known variables of `$context`. Source: API Gateway Developer Guide, "$context variables". */
function contextValues(error: GatewayError, context: RequestContext): Readonly<Record<string, string>> {
  return {
    'error.message': error.message,
    'error.messageString': JSON.stringify(error.message),
    'error.responseType': error.type,
    apiId: context.apiId,
    domainName: context.domainName,
    extendedRequestId: context.extendedRequestId,
    httpMethod: context.httpMethod,
    'identity.sourceIp': context.identity.sourceIp,
    path: context.path,
    protocol: context.protocol,
    requestId: context.requestId,
    requestTime: context.requestTime,
    requestTimeEpoch: String(context.requestTimeEpoch),
    resourcePath: context.resourcePath ?? '',
    stage: context.stage,
  };
}
