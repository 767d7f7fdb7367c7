import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http';
import { finished, pipeline } from 'node:stream/promises';
import { listen } from '../host/http-server.ts';
import type { Surroundings, WebFunctionConfig } from './function-config.ts';
import type { LogListener } from './invocation.ts';
import { NoPlace, type Place, WebEnvironments } from './web-environments.ts';

export interface WebFunctionEndpoint {
  readonly port: number;
  /** Ends the environments, including those with requests. The next request starts one. */
  stopEnvironments(): Promise<void>;
  close(): Promise<void>;
}

/** Request headers that do not reach the application. Source: Lambda Developer Guide, "Web function HTTP behavior". */
const REMOVED =
  /^(connection|keep-alive|upgrade|expect|te|trailer|proxy-.*|x-real-ip|x-http-method-override|lambda-web-.*)$/i;
const HOP_BY_HOP = /^(connection|keep-alive|proxy-connection|transfer-encoding|upgrade)$/i;

/** With `connection: close`, an application would cut the connection as soon as it has answered, whatever is still to come. */
const ADDED = ['connection', 'keep-alive'];

/**
 * Starts the HTTP endpoint of a Web Function. As on AWS it is half-duplex: the whole request body goes to the application
 * before anything of its answer is read, so the client of an application that answers early and stops reading has to wait.
 */
export async function startWebFunctionEndpoint(
  fn: WebFunctionConfig,
  surroundings: Surroundings,
  onLog: LogListener,
): Promise<WebFunctionEndpoint> {
  const environments = new WebEnvironments(fn, surroundings, onLog);
  // Node's own limit is off, because an upload may take as long as the timeout of the function. The server never closes an idle
  // connection: see `originClient`.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 }, (request, response) => {
    void answer(fn, environments, request, response);
  });
  server.on('checkContinue', (_request: IncomingMessage, response: ServerResponse) => refuse(response, 417, 'Expect'));
  const { port, close } = await listen(server);
  return {
    port,
    stopEnvironments: () => environments.stop(),
    async close() {
      await close();
      await environments.close();
    },
  };
}

async function answer(
  fn: WebFunctionConfig,
  environments: WebEnvironments,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.headers.host?.replace(/:\d+$/, '') !== fn.domainName) return refuse(response, 404, 'UnknownEndpoint');
  let place: Place;
  try {
    place = await environments.take();
  } catch (error) {
    const isFull = error instanceof NoPlace && error.reason === 'full';
    return isFull ? refuse(response, 429, 'TooManyRequests') : refuse(response, 502, 'Runtime.Crashed');
  }
  const timedOut = AbortSignal.timeout(fn.timeoutSeconds * 1_000);
  try {
    await relay(place.port, request, response, timedOut);
  } catch {
    if (response.headersSent) response.destroy();
    else if (timedOut.aborted) refuse(response, 504, 'Runtime.RequestTimeout');
    else refuse(response, 502, 'Runtime.Crashed');
  } finally {
    place.release();
  }
}

/** Relays the request to the application, then its answer to the caller. Rejects when a side goes away, or at the timeout. */
async function relay(
  port: number,
  request: IncomingMessage,
  response: ServerResponse,
  timedOut: AbortSignal,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const out = sendRequest({
    host: '127.0.0.1',
    port,
    method: request.method,
    path: request.url,
    headers: [...keptHeaders(request.rawHeaders, REMOVED), ...ADDED, 'lambda-web-request-id', randomUUID()],
    setHost: false,
    // A new connection for each request, so that none uses one that the application is just closing.
    agent: false,
    signal: AbortSignal.any([timedOut, gone.signal]),
  });
  out.flushHeaders();
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    out.once('response', resolve);
    out.once('error', reject);
  });
  await Promise.all([pipeline(request, out), answered]);
  const answer = await answered;
  response.writeHead(answer.statusCode ?? 502, keptHeaders(answer.rawHeaders, HOP_BY_HOP));
  await pipeline(answer, response);
}

function keptHeaders(raw: readonly string[], removed: RegExp): string[] {
  return raw.filter((_item, index) => !removed.test(raw[index - (index % 2)] ?? ''));
}

/** An answer of the service itself: no body, and the reason in a header. The caller may still be sending. */
function refuse(response: ServerResponse, status: number, reason: string): void {
  response.writeHead(status, { 'lambda-web-error-type': reason, 'content-length': 0, connection: 'close' }).end();
  response.req.resume();
  void finished(response.req).catch(() => {});
}
