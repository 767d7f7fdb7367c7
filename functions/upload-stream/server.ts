import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Context } from 'aws-lambda';
import { countDiscardedBytes } from '../../shared/accounts/allowance.ts';
import { accountStore } from '../../shared/aws/account-store.ts';
import { takeStreamSlot } from '../../shared/aws/stream-slot-store.ts';
import { limit, required } from '../../shared/env.ts';
import { ApiError } from '../../shared/errors.ts';
import { type ApiEvent, header } from '../../shared/http/request.ts';
import type { ApiResult } from '../../shared/http/response.ts';
import {
  MULTIPART_FRAMING_MAX_BYTES,
  RATE_WINDOW_MS,
  STREAMING_LEASE_MS,
  UPLOAD_SLOWEST_BYTES_PER_SECOND,
} from '../../shared/limits.ts';
import { describeError, log } from '../../shared/log.ts';
import { measure } from '../../shared/metrics.ts';
import { clientSubject } from '../../shared/rate-limit/client-subject.ts';
import { type ApiRequest, apiHandler } from '../../shared/stack/api-handler.ts';
import { receiveUpload } from '../../shared/stack/receive-upload.ts';
import { isFromOurEdge } from '../../shared/stack/viewer.ts';
import { handler as unknownRoute } from '../unknown-route.ts';
import { PacedBody } from './paced-body.ts';
import { type Occupant, type Owner, Places } from './places.ts';

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
const maxBodyBytes = limit('MAX_UPLOAD_SIZE_BYTES') + MULTIPART_FRAMING_MAX_BYTES;
const PACE = { minBytesPerSecond: UPLOAD_SLOWEST_BYTES_PER_SECOND, graceMs: 20_000 };
const SIZE = { maxBytes: maxBodyBytes, drainMaxBytes: 4 * maxBodyBytes };
/** How long a refused body is drained, so that its client can read the answer. */
const REFUSED = {
  /**
   * As long as a rate-limit window. Most of these bodies are refused by the rate limit. If the body were cut before the window is over, the
   * client's next attempt would be refused as well.
   */
  ofAccount: { drainMs: RATE_WINDOW_MS },
  /** This is short, because the client has mistyped its key, or has invented a key in order to hold a place. */
  ofStranger: { drainMs: 20_000, graceMs: 2_000 },
};
const places = new Places(Number(required('STREAMING_PLACES')), (mostTaken) =>
  measure({}, { StreamingPlaces: mostTaken }),
);

const uploadFile = apiHandler('uploadFile', uploadInSlot);

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
  const body = new PacedBody(request, { ...PACE, ...SIZE, deadlineAt: Date.now() + BODY_DEADLINE_MS });
  const event = toEvent(request, body);
  // This client has found the endpoint's own address, so it gets no place and no answer.
  if (!(await isFromOurEdge(event))) return void request.destroy();
  const sender = new Sender(event, body);
  const leave = places.take(sender);
  try {
    const isUpload = event.httpMethod === 'POST' && event.path === '/api/v1/files';
    const result = await (isUpload ? uploadFile : unknownRoute)(event, contextOf());
    if (await drainRefused(sender, result)) send(response, result);
    else request.destroy();
  } finally {
    leave();
  }
}

/**
 * Reads the rest of a refused body, if there is any, so that its client can read the answer. These bytes count for the
 * account's day, unless the failure is ours.
 * @returns false when the client must be cut.
 */
async function drainRefused(sender: Sender, { statusCode }: ApiResult): Promise<boolean> {
  const { body } = sender;
  if (body.hasEnded) return true;
  const owner = sender.becomeRefused();
  // A timer frees places once a second. But all places may be taken in less time, so places are freed at each refusal as well.
  places.makeRoom();
  if (places.hasTooManyRefused(owner)) return false;
  const { drainMs, ...bounds } = owner.isStranger ? REFUSED.ofStranger : REFUSED.ofAccount;
  const bytesBefore = body.bytes;
  const isWhole = await body.drain({ ...bounds, deadlineAt: Date.now() + drainMs });
  if (!owner.isStranger && statusCode < 500)
    await countDiscardedBytes(accountStore, owner.id, body.bytes - bytesBefore);
  return isWhole;
}

/** Receives an upload in a slot of its account. @throws ApiError `rate_limit_exceeded` when the account has no free slot. */
async function uploadInSlot(request: ApiRequest): Promise<ApiResult> {
  const slot = await takeStreamSlot(request.caller.accountId);
  if (!slot) throw new ApiError('rate_limit_exceeded', { headers: { 'Retry-After': '5' }, detail: 'too many streams' });
  const logSlotFailure = (error: unknown) => log('warn', 'stream slot not kept', describeError(error));
  const renewal = setInterval(() => slot.renew().catch(logSlotFailure), STREAMING_LEASE_MS / 3);
  let released: Promise<void> | undefined;
  const release = () => {
    clearInterval(renewal);
    released ??= slot.release().catch(logSlotFailure);
    return released;
  };
  try {
    // If an upload is refused while its body arrives, it keeps its slot until the body is drained. There is one exception: if the account
    // has used up its bytes of the day, `receiveUpload` does not drain the body. Then the body is drained after this function has ended,
    // without a slot.
    return await receiveUpload(request, release);
  } finally {
    await release();
  }
}

/** The client of one request, as far as it is known. */
class Sender implements Occupant {
  readonly body: PacedBody;
  readonly #event: ApiEvent;
  isRefused = false;

  constructor(event: ApiEvent, body: PacedBody) {
    this.#event = event;
    this.body = body;
  }

  get owner(): Owner | undefined {
    const { caller } = this.#event;
    if (caller) return { id: caller.accountId, isStranger: false };
    return this.isRefused ? this.#stranger() : undefined;
  }

  /** Marks the request as refused. From now on a client without an account is a stranger, known by its address. */
  becomeRefused(): Owner {
    this.isRefused = true;
    return this.owner ?? this.#stranger();
  }

  #stranger(): Owner {
    return { id: clientSubject(header(this.#event, 'x-viewer-address') ?? ''), isStranger: true };
  }
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
