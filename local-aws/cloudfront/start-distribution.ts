import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Properties } from '../template/deployment.ts';
import { memoryCache } from './cache.ts';
import type { FetchContext } from './caching-fetch.ts';
import { readDistribution } from './distribution.ts';
import { type OriginAddress, originClient } from './origin-client.ts';
import { unroutedError } from './own-answers.ts';
import type { DistributionResources } from './resources.ts';
import { type AnsweredRequest, serveRequest } from './serve-request.ts';
import { newRequestId } from './viewer-request.ts';

export interface DistributionOptions {
  /** 0 for a free one. */
  readonly port: number;
  readonly host: string;
  /** The `DistributionConfig` of the template, its intrinsics resolved. */
  readonly distribution: Properties;
  readonly resources: DistributionResources;
  /** Where the server that stands in for an origin's domain name listens; asked for every request. */
  readonly resolveOrigin: (domainName: string) => OriginAddress;
  readonly onRequest?: (request: AnsweredRequest) => void;
  /** The time of cache lifetimes and signatures. */
  readonly clock?: () => Date;
}

/** Request line and headers together. Source: CloudFront quotas. */
const HEAD_MAX_BYTES = 32_768;

/**
 * A CloudFront distribution as an HTTP/1.1 server on this machine, made from its configuration in the template.
 * @throws Error naming what the configuration asks for and this does not do.
 */
export async function startDistribution(
  options: DistributionOptions,
): Promise<{ port: number; close(): Promise<void> }> {
  const now = options.clock ?? (() => new Date());
  const context: FetchContext = {
    distribution: readDistribution(options.distribution, options.resources),
    cache: memoryCache(),
    client: originClient(options.resolveOrigin, now),
    now,
  };
  const answering = new WeakMap<Socket, ServerResponse>();
  const serve = (message: IncomingMessage, response: ServerResponse, expectsContinue: boolean) => {
    answering.set(message.socket, response);
    response.once('close', () => answering.delete(message.socket));
    void serveRequest(context, message, response, { expectsContinue, log: options.onRequest });
  };
  const server = createServer({
    maxHeaderSize: HEAD_MAX_BYTES,
    // A large upload may take as long as it takes; what is too slow is the origin's to decide.
    requestTimeout: 0,
    keepAliveTimeout: 75_000,
    // Refused in `readViewerRequest`, with a body, which Node's own refusal lacks.
    requireHostHeader: false,
  });
  server.on('request', (message, response) => serve(message, response, false));
  server.on('checkContinue', (message, response) => serve(message, response, true));
  server.on('checkExpectation', (message, response) => serve(message, response, false));
  server.on('clientError', (_error, socket: Socket) => refuseMalformed(socket, answering.get(socket)));
  // Nobody is proxied to; unheard, Node would hang up without an answer.
  server.on('connect', (_message, socket: Duplex) => refuseMalformed(socket, undefined));

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        context.client.close();
      }),
  };
}

/** What is not HTTP gets an answer all the same, unless one is already on its way. */
function refuseMalformed(socket: Duplex, response: ServerResponse | undefined): void {
  if (!socket.writable || response?.headersSent) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = unroutedError(400, newRequestId());
  const head = [...headers].map(([name, values]) => `${name}: ${values.join(', ')}`);
  socket.end(`HTTP/1.1 ${status} Bad Request\r\n${head.join('\r\n')}\r\nconnection: close\r\n\r\n${body}`);
}
