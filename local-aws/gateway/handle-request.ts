import type { IncomingMessage } from 'node:http';
import type { Account } from '../aws-front/principals.ts';
import { InvocationRefused, type InvocationResult } from '../lambda/invocation.ts';
import type { LambdaService } from '../lambda/lambda-service.ts';
import type { Progress } from './access-log.ts';
import { findRoute, type Route } from './find-route.ts';
import {
  GATEWAY_ERRORS,
  type GatewayError,
  gatewayResponse,
  type HttpAnswer,
  notASignature,
} from './gateway-response.ts';
import { proxyEvent, proxyResult } from './proxy-integration.ts';
import { keyedContext, type RequestContext, routedContext } from './request-context.ts';
import type { RestApi } from './rest-api.ts';

/** A fixed limit of AWS. Source: API Gateway quotas, "Payload size". */
const BODY_MAX_BYTES = 10 * 1024 * 1024;

export interface GatewayParts {
  readonly api: RestApi;
  readonly account: Account;
  readonly lambda: LambdaService;
  /** Called with the reason when the gateway itself answers with an error 5xx, before a template changes the status. */
  readonly onFailure: (failure: { readonly requestId: string; readonly reason: string }) => void;
  /** Called with each line of the access log. */
  readonly onAccess: (group: string, line: string) => void;
}

/** A request to the stage of the API. */
interface GatewayRequest {
  readonly message: IncomingMessage;
  /** The path without the stage, still encoded. */
  readonly path: string;
  /** The query without the question mark. */
  readonly query: string;
  readonly context: RequestContext;
  readonly traceId: string;
  /** Filled in while the request is handled, for the access log. */
  readonly progress: Progress;
}

/** Finds the route, reads the body, runs the function, and makes the answer. @throws Error when the client goes away meanwhile. */
export async function handleRequest(parts: GatewayParts, request: GatewayRequest): Promise<HttpAnswer> {
  const { api } = parts;
  const { message } = request;
  const route = findRoute(api.root, request.context.httpMethod, request.path);
  if (!route) return gatewayResponse(unknownRoute(message), api, request.context);
  request.progress.resourcePath = route.resource.path;
  const routed = routedContext(request.context, route.resource);
  const context = withApiKey(routed, route, api, message);
  if (!context) return gatewayResponse(GATEWAY_ERRORS.noApiKey, api, routed);
  if (api.stopped.has(`${context.httpMethod} ${route.resource.path}`)) {
    return gatewayResponse(GATEWAY_ERRORS.throttled, api, context);
  }
  const fail = (error: GatewayError, reason: string) => {
    parts.onFailure({ requestId: context.requestId, reason });
    return gatewayResponse(error, api, context);
  };
  // AWS says about this header only "Exception", and not how it answers such a request. This gateway answers 500. Source: API Gateway
  // Developer Guide, "Important notes", table of headers.
  if (message.headers['transfer-encoding'] !== undefined) {
    return fail(GATEWAY_ERRORS.functionRefused, 'a Lambda integration takes no Transfer-Encoding');
  }
  const body = await readBody(message, BODY_MAX_BYTES);
  if (body === 'too-large') return TOO_LARGE;
  const payload = JSON.stringify(proxyEvent(api, route, context, { ...request, body }));
  const startedAt = performance.now();
  try {
    const result = await withTimeout(invoke(parts, route, context, payload, request.traceId), route);
    if (result === 'timeout') return fail(GATEWAY_ERRORS.timeout, 'the function took too long');
    request.progress.integration = { status: 200, milliseconds: performance.now() - startedAt };
    if (result.functionError) return fail(GATEWAY_ERRORS.functionFailed, 'the function failed');
    const answer = proxyResult(result.payload, api, message.headers.accept);
    return answer ?? fail(GATEWAY_ERRORS.functionFailed, 'the function gave a malformed proxy response');
  } catch (error) {
    if (!(error instanceof InvocationRefused)) throw error;
    if (error.code === 'RequestTooLarge') return EVENT_TOO_LARGE;
    const isForbidden = error.code === 'AccessDenied' || error.code === 'ResourceNotFound';
    return fail(isForbidden ? GATEWAY_ERRORS.notPermitted : GATEWAY_ERRORS.functionRefused, error.message);
  }
}

/**
 * The whole body of a request, or `too-large` as soon as it is longer than `maxBytes`.
 * @throws Error when the client goes away.
 */
async function readBody(message: IncomingMessage, maxBytes: number): Promise<Buffer | 'too-large'> {
  if (Number(message.headers['content-length'] ?? 0) > maxBytes) return 'too-large';
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) return 'too-large';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * The answer to more than 10 MiB. No template changes it: "Customizing the default gateway response for 413
 * REQUEST_TOO_LARGE isn't currently supported." Source: API Gateway Developer Guide, "Important notes".
 */
const TOO_LARGE: HttpAnswer = {
  status: 413,
  headers: [['Content-Type', 'text/plain']],
  body: Buffer.from(`HTTP content length exceeded ${BODY_MAX_BYTES} bytes.`),
};

/** The answer to an event that is too large for Lambda (a body of 4.5 to 10 MiB). Users of AWS report this 413; the documentation says 500. */
const EVENT_TOO_LARGE: HttpAnswer = {
  status: 413,
  headers: [['Content-Type', 'application/json']],
  body: Buffer.from('{"message":"Request Too Long"}'),
};

/** @returns undefined when the method needs an API key and the request has none that the stage accepts. */
function withApiKey(
  context: RequestContext,
  { integration }: Route,
  { apiKeys }: RestApi,
  { headers }: IncomingMessage,
): RequestContext | undefined {
  if (!integration.needsApiKey) return context;
  const key = String(headers['x-api-key'] ?? '');
  const id = apiKeys.get(key);
  return id === undefined ? undefined : keyedContext(context, key, id);
}

/** The error for an unknown route. Only here does the gateway take every `Authorization` header for an AWS signature. */
function unknownRoute({ headers: { authorization } }: IncomingMessage): GatewayError {
  return authorization === undefined ? GATEWAY_ERRORS.unknownRoute : notASignature(authorization);
}

function invoke(
  { api, account, lambda }: GatewayParts,
  { resource, integration }: Route,
  context: RequestContext,
  payload: string,
  traceId: string,
): Promise<InvocationResult> {
  const method = `${api.stage}/${context.httpMethod}${resource.path}`;
  return lambda.invoke({
    functionArn: integration.functionArn,
    payload,
    traceId,
    invoker: {
      principal: 'apigateway.amazonaws.com',
      sourceArn: `arn:aws:execute-api:${account.region}:${account.accountId}:${api.id}/${method}`,
    },
  });
}

/** After a timeout the function runs on, as on AWS. */
async function withTimeout(
  result: Promise<InvocationResult>,
  { integration }: Route,
): Promise<InvocationResult | 'timeout'> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(resolve, integration.timeoutMilliseconds, 'timeout');
  });
  try {
    return await Promise.race([result, timeout]);
  } finally {
    clearTimeout(timer);
    // A failure after the timeout has no reader.
    result.catch(() => {});
  }
}
