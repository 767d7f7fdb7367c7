import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import { drain } from '../host/http-server.ts';
import type { WriteAccessLine } from './access-log.ts';
import { answerRequest, type Outcome } from './answer-request.ts';
import type { Answer, FetchContext } from './caching-fetch.ts';
import type { CacheBehavior } from './distribution.ts';
import { type HeaderMap, header, headersForNode } from './header-map.ts';
import { acceptedEncodings } from './origin-request.ts';
import { unroutedError } from './own-answers.ts';
import { newRequestId, readViewerRequest, type ViewerRequest } from './viewer-request.ts';

/** One answered request, for the log. It holds no secrets: no query, and only two headers of the answer. */
export interface AnsweredRequest {
  readonly method: string;
  readonly path: string;
  /** 0 when the viewer left before the request was answered. */
  readonly status: number;
  /** How many bytes of head and body were sent. */
  readonly bytes: number;
  readonly milliseconds: number;
  /** The `X-Request-Id` of the answer, if it has one. */
  readonly requestId?: string;
  /** Why CloudFront itself answered with an error, or the `Error-Detail` of the answer. */
  readonly failure?: string;
}

/** One whole request and its answer, for a listener that checks them. Bodies are kept only when they are JSON. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly requestHeaders: HeaderMap;
  readonly requestBody: Buffer | undefined;
  readonly status: number;
  readonly headers: HeaderMap;
  readonly body: Buffer | undefined;
}

/** How much a viewer may still send after its answer. CloudFront's limit is not documented. */
const DRAIN_LIMITS = { maxBytes: 256 * 1024 * 1024, maxMilliseconds: 30_000 };

/** Answers one request, and logs it once the last byte is sent or the viewer is gone. Never throws. */
export async function serveRequest(
  context: FetchContext,
  message: IncomingMessage,
  response: ServerResponse,
  options: {
    readonly expectsContinue: boolean;
    readonly log: ((request: AnsweredRequest) => void) | undefined;
    readonly writeAccessLine: WriteAccessLine | undefined;
    readonly onExchange: ((exchange: Exchange) => void) | undefined;
  },
): Promise<void> {
  const viewer = readViewerRequest(message);
  let outcome: Outcome | undefined;
  if (options.log) logWhenClosed(message, response, options.log, () => outcome?.answer);
  if (options.writeAccessLine) accessLineWhenClosed(message, response, options.writeAccessLine, () => outcome?.answer);

  const isContinued = options.expectsContinue ? continueWhenRead(viewer, response) : () => true;
  const requestBody = options.onExchange && keepJson(viewer?.headers, viewer?.body);
  outcome = viewer && (await answerRequest(context, viewer));
  if (viewer && outcome && options.onExchange) {
    reportWhenClosed(viewer, outcome.answer, response, { requestBody, onExchange: options.onExchange });
  }
  // A viewer that still waits for 100 Continue sends nothing more; Node closes its connection after the answer.
  const drained = isContinued() ? drain(message, DRAIN_LIMITS) : Promise.resolve();

  try {
    if (viewer && outcome) await send(viewer, outcome, response, drained);
    else refuse(response, 400, newRequestId());
  } catch {
    // Node refuses to write some headers, such as a value with a line break from an origin.
    if (response.headersSent) response.destroy();
    else refuse(response, 502, viewer?.id ?? newRequestId());
  }
}

function refuse(response: ServerResponse, reason: 400 | 502, requestId: string): void {
  const { status, headers, body } = unroutedError(reason, requestId);
  response.writeHead(status, { ...headersForNode(headers), connection: 'close' }).end(body);
}

function logWhenClosed(
  message: IncomingMessage,
  response: ServerResponse,
  log: (request: AnsweredRequest) => void,
  answer: () => Answer | undefined,
): void {
  const { socket } = message;
  const started = performance.now();
  const bytesBefore = socket.bytesWritten;
  response.once('close', () => {
    const { headers, failure = headers && header(headers, 'error-detail') } = answer() ?? {};
    const requestId = headers && header(headers, 'x-request-id');
    log({
      method: message.method ?? '',
      path: (message.url ?? '').replace(/\?.*/s, ''),
      status: response.headersSent ? response.statusCode : 0,
      bytes: socket.bytesWritten - bytesBefore,
      milliseconds: performance.now() - started,
      ...(requestId && { requestId }),
      ...(failure && { failure }),
    });
  });
}

function accessLineWhenClosed(
  message: IncomingMessage,
  response: ServerResponse,
  write: WriteAccessLine,
  answer: () => Answer | undefined,
): void {
  const { socket } = message;
  const viewerAddress = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  const started = performance.now();
  const [sentBefore, receivedBefore] = [socket.bytesWritten, socket.bytesRead];
  response.once('close', () => {
    const headers = answer()?.headers ?? new Map();
    write({
      endedAt: Date.now(),
      method: message.method ?? '',
      path: (message.url ?? '').replace(/\?.*/s, ''),
      status: response.headersSent ? response.statusCode : 0,
      viewerAddress,
      requestId: header(headers, 'x-amz-cf-id') ?? '-',
      resultType: header(headers, 'x-cache')?.replace(/ from cloudfront$/, '') ?? 'Error',
      bytesSent: socket.bytesWritten - sentBefore,
      bytesReceived: socket.bytesRead - receivedBefore,
      milliseconds: performance.now() - started,
    });
  });
}

/** Reports an exchange when its answer was sent to its end. An answer that was cut is not reported. */
function reportWhenClosed(
  { method, path, query, headers: requestHeaders }: ViewerRequest,
  { status, headers, body: answered }: Answer,
  response: ServerResponse,
  {
    requestBody,
    onExchange,
  }: {
    readonly requestBody: (() => Buffer | undefined) | undefined;
    readonly onExchange: (exchange: Exchange) => void;
  },
): void {
  const body = keepJson(headers, answered);
  response.once('close', () => {
    if (!response.writableFinished) return;
    const request = { method, path, query, requestHeaders, requestBody: requestBody?.() };
    onExchange({ ...request, status, headers, body: method === 'HEAD' ? undefined : body?.() });
  });
}

/** Keeps a copy of a JSON body while it is read. @returns a function that gives what was read so far; undefined without a JSON body. */
function keepJson(
  headers: HeaderMap | undefined,
  body: Buffer | Readable | undefined,
): (() => Buffer | undefined) | undefined {
  if (!headers || !body || !/^application\/json\b/i.test(header(headers, 'content-type') ?? '')) return undefined;
  if (Buffer.isBuffer(body)) return () => body;
  const chunks: Buffer[] = [];
  // A listener that is added earlier would start the stream.
  body.once('resume', () => body.on('data', (chunk: Buffer) => chunks.push(chunk)));
  return () => Buffer.concat(chunks);
}

/**
 * CloudFront itself answers `Expect: 100-continue`. Here it does so when the body is first read, so that a client whose request is
 * refused sends no body.
 */
function continueWhenRead(viewer: ViewerRequest | undefined, response: ServerResponse): () => boolean {
  let isContinued = false;
  viewer?.body?.once('resume', () => {
    // When the answer has begun, Node itself reads the rest of the body.
    if (response.headersSent) return;
    isContinued = true;
    response.writeContinue();
  });
  return () => isContinued;
}

/**
 * Sends an answer to the viewer.
 * @param drained  resolves when the body of the request is read. The answer ends only then: if the connection is to be closed,
 * Node cuts it at the end of the answer.
 */
async function send(
  viewer: ViewerRequest,
  { answer, behavior }: Outcome,
  response: ServerResponse,
  drained: Promise<unknown>,
): Promise<void> {
  const { status, headers, body } = answer;
  const compress = compressor(viewer, behavior, answer);
  response.writeHead(status, headersForNode(headers));
  if (viewer.method === 'HEAD' || status === 304) {
    // There is no body to send. Reading the body of the origin to its end frees the connection.
    if (!Buffer.isBuffer(body)) body.resume();
    compress?.destroy();
    response.end();
    return;
  }
  const source = Buffer.isBuffer(body) ? [body] : body;
  const sent = compress
    ? pipeline(source, compress, response, { end: false })
    : pipeline(source, response, { end: false });
  try {
    await sent;
    await drained;
    response.end();
  } catch {
    // The viewer left, or the origin cut its answer, which is then cut here, too.
    response.destroy();
  }
}

/** The sizes and types that are compressed. Source: CloudFront Developer Guide, "Serve compressed files". */
const MIN_BYTES = 1_000;

const MAX_BYTES = 10_000_000;

const TYPES =
  /^\s*(text\/(css|html|javascript|plain|xml|csv|markdown|x-.+)|application\/(javascript|json|xml|wasm|manifest\+json|.+\+(json|xml))|image\/svg\+xml|font\/(ttf|otf)|image\/x-icon)\s*(;|$)/i;

/**
 * Decides whether an answer is compressed, and if so changes its headers accordingly.
 * @returns the compressor for the body; undefined when it is sent as it is.
 */
function compressor(
  viewer: ViewerRequest,
  behavior: CacheBehavior,
  answer: { status: number; headers: HeaderMap },
): Transform | undefined {
  const { status, headers } = answer;
  const [encoding] = acceptedEncodings(header(viewer.headers, 'accept-encoding'), behavior.cachePolicy.encodings);
  const length = Number(header(headers, 'content-length'));
  if (!behavior.compress || !encoding || status !== 200 || headers.has('content-encoding')) return undefined;
  if (!(length >= MIN_BYTES && length <= MAX_BYTES) || !TYPES.test(header(headers, 'content-type') ?? ''))
    return undefined;

  headers.delete('content-length');
  headers.set('content-encoding', [encoding]);
  headers.set('vary', [...(headers.get('vary') ?? []), 'accept-encoding']);
  const etag = header(headers, 'etag');
  if (etag && !etag.startsWith('W/')) headers.set('etag', [`W/${etag}`]);
  if (encoding === 'gzip') return createGzip();
  return createBrotliCompress({
    params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: length },
  });
}
