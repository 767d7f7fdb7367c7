import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Context } from 'aws-lambda';
import { countDiscardedBytes } from '../../shared/accounts/allowance.ts';
import { accountStore } from '../../shared/aws/account-store.ts';
import type { FileRecord } from '../../shared/contract/answers.ts';
import {
  MULTIPART_FRAMING_MAX_BYTES,
  RATE_WINDOW_MS,
  UPLOAD_SLOWEST_BYTES_PER_SECOND,
} from '../../shared/contract/limits.ts';
import { limit } from '../../shared/env.ts';
import { ApiError } from '../../shared/errors.ts';
import type { ApiEvent } from '../../shared/http/request.ts';
import type { ApiResult } from '../../shared/http/response.ts';
import { describeError, log } from '../../shared/log.ts';
import { measure } from '../../shared/metrics.ts';
import { type ApiRequest, apiHandler } from '../../shared/stack/api-handler.ts';
import { receiveUpload } from '../../shared/stack/receive-upload.ts';
import { isFromOurEdge } from '../../shared/stack/viewer.ts';
import { uploadFile as route } from '../files/upload-file.route.ts';
import { handler as unknownRoute } from '../unknown-route.ts';
import { PacedBody } from './paced-body.ts';
import { Places } from './places.ts';

/**
 * The streaming lane. It takes forms that are too large for a Lambda event, or whose length is unknown. It is a Lambda Web Function, that
 * is, a plain HTTP server. It runs the same stack as `POST /files` behind the gateway, over a body that is still arriving.
 *
 * The path to this server is half-duplex: no answer reaches the client before the whole body was read. So a refused body is drained first,
 * within the bounds of {@link PacedBody}. A body that breaks these bounds is cut. When there are more clients than this process can serve
 * at the same time, {@link Places} decides which body is cut.
 */

/** A request of a Web Function may take 900 s. The time that is left when the body has arrived is for settling and answering. */
const BODY_DEADLINE_MS = 870_000;
const REQUEST_DEADLINE_MS = 895_000;
const PACE = {
  maxBytes: limit('MAX_UPLOAD_SIZE_BYTES') + MULTIPART_FRAMING_MAX_BYTES,
  minBytesPerSecond: UPLOAD_SLOWEST_BYTES_PER_SECOND,
  graceMs: 20_000,
};
const places = new Places((taken) => measure({}, { StreamingPlaces: taken }));

const uploadFile = apiHandler(route, uploadIfAdmitted);

const server = createServer(
  { requestTimeout: 0, headersTimeout: 20_000, keepAliveTimeout: 65_000 },
  (request, response) => {
    answer(request, response).catch((error) => {
      log('error', 'streaming request failed', describeError(error));
      request.destroy();
    });
  },
);
// Node itself answers `Expect: 100-continue`. After a client error the socket is broken, so no answer is sent.
server.on('clientError', (_error, socket) => socket.destroy());

const [host, port] = endpoint();
server.listen(port, host);
process.on('SIGTERM', () => server.close(() => process.exit(0)));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = new PacedBody(request, { ...PACE, deadlineAt: Date.now() + BODY_DEADLINE_MS });
  const event = toEvent(request, body);
  // This client has found the endpoint's own address, so it gets no place and no answer.
  if (!(await isFromOurEdge(event))) return void request.destroy();
  places.take(event, body);
  try {
    const isUpload = event.httpMethod === 'POST' && event.path === route.path;
    const result = await (isUpload ? uploadFile : unknownRoute)(event, contextOf());
    if (body.hasEnded || (await drainRefused(event, body, result))) send(response, result);
    else request.destroy();
  } finally {
    places.leave(event);
  }
}

/** @throws ApiError `rate_limit_exceeded` when the account has too many uploads in this process. */
async function uploadIfAdmitted(request: ApiRequest): Promise<ApiResult<FileRecord>> {
  const { event, caller } = request;
  if (!places.admit(event, caller.accountId)) {
    throw new ApiError('rate_limit_exceeded', { headers: { 'Retry-After': '5' }, detail: 'too many large forms' });
  }
  return receiveUpload(request);
}

/**
 * Reads the rest of a refused body, so that its client can read the answer. The body of an account may take as long as an upload, so that
 * the client learns why it must not try again. But after a 429 the client shall try again, and somebody without a valid credential may have
 * come only to hold a place. Their bodies are read for the length of a rate-limit window: then the next attempt is admitted. All bytes of the body count for the account's day, unless the
 * failure is ours. A 504 is the client's: its body was still arriving.
 * @returns false when the client cannot be answered, because its body was cut.
 */
async function drainRefused(event: ApiEvent, body: PacedBody, { statusCode }: ApiResult): Promise<boolean> {
  places.refuse(event);
  const mayTakeMs = event.caller && statusCode !== 429 ? BODY_DEADLINE_MS : RATE_WINDOW_MS;
  const isWhole = await body.drain(Date.now() + mayTakeMs);
  const isFaultOfClient = statusCode < 500 || statusCode === 504;
  if (event.caller && isFaultOfClient) await countDiscardedBytes(accountStore, event.caller.accountId, body.bytes);
  return isWhole;
}

function toEvent(request: IncomingMessage, stream: PacedBody): ApiEvent {
  const multiValueHeaders: Record<string, string[]> = {};
  for (const [name, values] of Object.entries(request.headersDistinct)) multiValueHeaders[name] = values ?? [];
  return {
    httpMethod: request.method ?? '',
    path: (request.url ?? '/').split('?', 1)[0] ?? '/',
    multiValueHeaders,
    multiValueQueryStringParameters: null,
    pathParameters: null,
    body: null,
    isBase64Encoded: false,
    requestContext: { requestId: randomUUID(), identity: { sourceIp: request.socket.remoteAddress ?? '' } },
    stream,
  };
}

/** The part of a Lambda context that the stack reads. */
function contextOf(): Context {
  const endsAt = Date.now() + REQUEST_DEADLINE_MS;
  return { getRemainingTimeInMillis: () => endsAt - Date.now() } as Context;
}

function send(response: ServerResponse, { statusCode, headers, multiValueHeaders, body }: ApiResult): void {
  for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, String(value));
  for (const [name, values] of Object.entries(multiValueHeaders ?? {})) response.setHeader(name, values.map(String));
  response.writeHead(statusCode, { 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

/** The address where the Lambda runtime expects the server: `AWS_LAMBDA_HTTP_ENDPOINT` is `host:port`. */
function endpoint(): [host: string, port: number] {
  const value = process.env.AWS_LAMBDA_HTTP_ENDPOINT ?? '';
  const colon = value.lastIndexOf(':');
  if (colon < 1) throw new Error('environment variable AWS_LAMBDA_HTTP_ENDPOINT is not set to host:port');
  return [value.slice(0, colon), Number(value.slice(colon + 1))];
}
