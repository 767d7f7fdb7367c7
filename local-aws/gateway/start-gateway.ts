import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { drain, type Listening, listen } from '../host/http-server.ts';
import { newTraceId } from '../lambda/invocation.ts';
import { accessLine, checkFormat, type Progress } from './access-log.ts';
import type { HttpAnswer } from './gateway-response.ts';
import { type GatewayParts, handleRequest } from './handle-request.ts';
import { type RequestContext, requestContext } from './request-context.ts';

/**
 * The limit for the request line and the headers together, with their names. Source: API Gateway quotas, "Total combined size of request
 * line and headers".
 */
const HEAD_MAX_BYTES = 10_240;

/** How much a client may still send after it was refused. */
const DRAIN_MAX_BYTES = 64 * 1024 * 1024;

/**
 * Starts a REST API of API Gateway, with its stage.
 * @throws Error naming a variable of the access log that the local gateway does not know.
 */
export async function startGateway(parts: GatewayParts): Promise<Listening> {
  if (parts.api.accessLog) checkFormat(parts.api.accessLog);
  const options = {
    // Node counts the size of the head differently from the gateway, so Node's own limit is set far above the gateway's.
    maxHeaderSize: 16 * HEAD_MAX_BYTES,
    requestTimeout: 0,
    // The server never closes an idle connection: see `originClient`.
    keepAliveTimeout: 0,
  };
  const server = createServer(options, (message, response) => void serve(parts, message, response));
  server.on('clientError', (_error, socket: Socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  });
  return listen(server);
}

async function serve(parts: GatewayParts, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const { api } = parts;
  const [fullPath = '', query = ''] = (message.url ?? '').split(/\?(.*)/s);
  // The gateway honours this header. Source: API Gateway Developer Guide, "Important notes".
  const override = message.headers['x-http-method-override'];
  const method = typeof override === 'string' ? override.toUpperCase() : (message.method ?? '');
  const traceId = traceIdOf(message);
  const context = requestContext(api, parts.account.accountId, message, { method, path: fullPath });
  const [, stage, path = '/'] = /^\/([^/]*)(\/.*)?$/s.exec(fullPath) ?? [];
  const [progress, startedAt]: [Progress, number] = [{}, performance.now()];
  let answer: HttpAnswer;
  try {
    if (headBytes(message) > HEAD_MAX_BYTES) answer = HEAD_TOO_LARGE;
    else if (stage !== api.stage) answer = FORBIDDEN;
    else answer = await handleRequest(parts, { message, path, query, context, traceId, progress });
  } catch (error) {
    if (message.destroyed && !message.complete) return;
    parts.onFailure({ requestId: context.requestId, reason: String(error) });
    answer = BROKEN;
  }
  if (api.accessLog) {
    const milliseconds = performance.now() - startedAt;
    parts.onAccess(api.accessLog.group, accessLine(api.accessLog, { context, progress, answer, milliseconds }));
  }
  if (await drain(message, { maxBytes: DRAIN_MAX_BYTES })) send(answer, context, traceId, response);
}

/** Continues the trace of the request, or starts a new one. */
function traceIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-amzn-trace-id'];
  const root = typeof given === 'string' ? /(?:^|;)Root=(1-[0-9a-f]{8}-[0-9a-f]{24})/.exec(given)?.[1] : undefined;
  const fresh = newTraceId();
  return root === undefined ? fresh : fresh.replace(/^Root=[^;]*/, `Root=${root}`);
}

function headBytes({ method = '', url = '', rawHeaders }: IncomingMessage): number {
  return [method, url, ...rawHeaders].reduce((sum, text) => sum + Buffer.byteLength(text, 'latin1'), 0);
}

function send(answer: HttpAnswer, context: RequestContext, traceId: string, response: ServerResponse): void {
  const hasBody = answer.status !== 204 && answer.status !== 304;
  const headers = [
    ...answer.headers,
    ['x-amzn-RequestId', context.requestId],
    ['x-amz-apigw-id', context.extendedRequestId],
    ['X-Amzn-Trace-Id', traceId.replace(/;.*/s, '')],
    ...(hasBody ? [['Content-Length', String(answer.body.length)]] : []),
  ];
  response.writeHead(answer.status, headers.flat() as string[]);
  response.end(hasBody ? answer.body : undefined);
}

/** This answer is a guess: AWS does not document what the gateway answers to a head that is too large. */
const HEAD_TOO_LARGE = fixed(431, 'Request Header Fields Too Large');
const FORBIDDEN = fixed(403, 'Forbidden');
/** The answer to an error of this gateway itself. */
const BROKEN = fixed(500, 'Internal server error');

function fixed(status: number, message: string): HttpAnswer {
  return { status, headers: [['Content-Type', 'application/json']], body: Buffer.from(JSON.stringify({ message })) };
}
