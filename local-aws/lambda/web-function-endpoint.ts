import { randomUUID } from 'node:crypto';
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type ServerResponse,
  request as sendRequest,
} from 'node:http';
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { listen } from '../host/http-server.ts';
import type { Surroundings, WebFunctionConfig } from './function-config.ts';
import type { LogListener } from './invocation.ts';
import { NoPlace, type Place, WebEnvironments } from './web-environments.ts';

export interface WebFunctionEndpoint {
  readonly port: number;
  /** Handles a request of a caller in this process as the port would. The bodies then pass through one connection less. */
  readonly handle: HandleWebRequest;
  /** Ends the environments, including those with requests. The next request starts one. */
  stopEnvironments(): Promise<void>;
  close(): Promise<void>;
}

/** The head of a request, in the shape of Node's message. */
interface RequestHead {
  readonly method?: string | undefined;
  /** The path and the query. */
  readonly url?: string | undefined;
  /** The headers as Node lists them: name, value, name, value. */
  readonly rawHeaders: readonly string[];
}

interface WebAnswer {
  readonly status: number;
  /** The headers as Node lists them, without those of the connection. */
  readonly rawHeaders: readonly string[];
  readonly body: Readable;
  /** True for an answer of the service itself. The body of the request may not have been read. */
  readonly isRefusal: boolean;
}

/**
 * Handles a request. The caller has to read the body of the answer, or to destroy it.
 * @param options  `gone` aborts the request when its sender goes away. `silenceMs` is how long nothing may move in either direction
 *   until the answer begins.
 * @throws Error when the sender goes away; {@link Silence}.
 */
export type HandleWebRequest = (
  head: RequestHead,
  body: IncomingMessage | undefined,
  options: { readonly gone: AbortSignal; readonly silenceMs?: number },
) => Promise<WebAnswer>;

/** Thrown when no byte has moved in either direction for `silenceMs`. */
export class Silence extends Error {}

/** Request headers that do not reach the application. Source: Lambda Developer Guide, "Web function HTTP behavior". */
const REMOVED =
  /^(connection|keep-alive|upgrade|expect|te|trailer|proxy-.*|x-real-ip|x-http-method-override|lambda-web-.*)$/i;
const HOP_BY_HOP = /^(connection|keep-alive|proxy-connection|transfer-encoding|upgrade)$/i;

/** With `connection: close`, an application would cut the connection as soon as it has answered, even in the middle of the request. */
const ADDED = ['connection', 'keep-alive'];

/**
 * Starts the HTTP endpoint of a Web Function. As on AWS it is half-duplex: the whole request body goes to the application before anything
 * of its answer is read. If the application answers early and stops reading, the client has to wait.
 */
export async function startWebFunctionEndpoint(
  fn: WebFunctionConfig,
  surroundings: Surroundings,
  onLog: LogListener,
): Promise<WebFunctionEndpoint> {
  const environments = new WebEnvironments(fn, surroundings, onLog);
  const handle: HandleWebRequest = (head, body, options) => answer(fn, environments, head, body, options);
  // No limit of Node's own, because an upload may take as long as the timeout of the function.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 }, (request, response) => {
    void serve(handle, request, response);
  });
  server.on('checkContinue', (_request: IncomingMessage, response: ServerResponse) => {
    reply(response, refusal(417, 'Expect')).catch(() => response.destroy());
  });
  const { port, close } = await listen(server);
  return {
    port,
    handle,
    stopEnvironments: () => environments.stop(),
    async close() {
      await close();
      await environments.close();
    },
  };
}

async function serve(handle: HandleWebRequest, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    await reply(response, await handle(request, request, { gone: gone.signal }));
  } catch {
    response.destroy();
  }
}

/** Sends an answer. @throws Error when a side goes away meanwhile. */
async function reply(response: ServerResponse, { status, rawHeaders, body, isRefusal }: WebAnswer): Promise<void> {
  response.writeHead(status, [...rawHeaders, ...(isRefusal ? ['connection', 'close'] : [])]);
  await pipeline(body, response);
  if (!isRefusal) return;
  // The sender may still be sending.
  response.req.resume();
  await finished(response.req);
}

async function answer(
  fn: WebFunctionConfig,
  environments: WebEnvironments,
  head: RequestHead,
  body: IncomingMessage | undefined,
  { gone, silenceMs }: Parameters<HandleWebRequest>[2],
): Promise<WebAnswer> {
  const host = head.rawHeaders.findIndex((name, index) => index % 2 === 0 && /^host$/i.test(name));
  if (head.rawHeaders[host + 1]?.replace(/:\d+$/, '') !== fn.domainName) return refusal(404, 'UnknownEndpoint');
  let place: Place;
  try {
    place = await environments.take();
  } catch (error) {
    const isFull = error instanceof NoPlace && error.reason === 'full';
    return isFull ? refusal(429, 'TooManyRequests') : refusal(502, 'Runtime.Crashed');
  }
  const timedOut = AbortSignal.timeout(fn.timeoutSeconds * 1_000);
  const out = open(place.port, head, AbortSignal.any([timedOut, gone]));
  // The place is free once the application has answered to the end, or can no longer do so.
  out.once('close', () => place.release());
  if (silenceMs !== undefined) out.setTimeout(silenceMs, () => out.destroy(new Silence()));
  try {
    const [from] = await Promise.all([answered(out), send(body, out)]);
    out.setTimeout(0);
    const rawHeaders = keptHeaders(from.rawHeaders, HOP_BY_HOP);
    return { status: from.statusCode ?? 502, rawHeaders, body: from, isRefusal: false };
  } catch (error) {
    out.destroy();
    if (gone.aborted || error instanceof Silence) throw error;
    return timedOut.aborted ? refusal(504, 'Runtime.RequestTimeout') : refusal(502, 'Runtime.Crashed');
  }
}

function open(port: number, { method, url, rawHeaders }: RequestHead, signal: AbortSignal): ClientRequest {
  return sendRequest({
    host: '127.0.0.1',
    port,
    method,
    path: url,
    headers: [...keptHeaders(rawHeaders, REMOVED), ...ADDED, 'lambda-web-request-id', randomUUID()],
    setHost: false,
    // A new connection for each request, so that none uses one that the application is just closing.
    agent: false,
    signal,
  });
}

function answered(out: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    out.once('response', resolve);
    out.on('error', reject);
    out.once('close', () => reject(new Error('the application gave no answer')));
  });
}

/**
 * Sends a body to its end. When sending fails, the rest of the body stays unread, and the sender can still be answered.
 * @throws Error when a side goes away.
 */
async function send(body: IncomingMessage | undefined, out: ClientRequest): Promise<void> {
  if (!body) return void out.end();
  out.flushHeaders();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  out.once('finish', resolve);
  out.once('close', () => reject(new Error('the application has closed the connection')));
  const cut = () => body.complete || out.destroy(new Error('the sender went away'));
  body.once('close', cut);
  body.once('error', cut);
  body.pipe(out);
  if (body.destroyed) cut();
  try {
    await promise;
  } finally {
    body.unpipe(out);
  }
}

function keptHeaders(raw: readonly string[], removed: RegExp): string[] {
  return raw.filter((_item, index) => !removed.test(raw[index - (index % 2)] ?? ''));
}

/** An answer of the service itself: no body, and the reason in a header. */
function refusal(status: number, reason: string): WebAnswer {
  const rawHeaders = ['lambda-web-error-type', reason, 'content-length', '0'];
  return { status, rawHeaders, body: Readable.from([]), isRefusal: true };
}
