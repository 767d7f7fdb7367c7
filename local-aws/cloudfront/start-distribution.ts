import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { credentialsOf } from '../aws-front/principals.ts';
import { type Listening, listenOnLocalhost } from '../host/http-server.ts';
import type { Deployment, Properties, Resource } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';
import type { WriteAccessLine } from './access-log.ts';
import { memoryCache } from './cache.ts';
import type { FetchContext } from './caching-fetch.ts';
import { type DistributionResources, readDistribution } from './distribution.ts';
import { type OriginAddress, originClient } from './origin-client.ts';
import { unroutedError } from './own-answers.ts';
import { type AnsweredRequest, type Exchange, serveRequest } from './serve-request.ts';
import { newRequestId } from './viewer-request.ts';

/** Starts a distribution of the template. */
export async function startEdge(options: {
  readonly deployment: Deployment;
  readonly distribution: Resource;
  readonly port: number;
  /** The local servers, by the domain name that each stands in for. */
  readonly origins: ReadonlyMap<string, OriginAddress>;
  readonly onRequest: (request: AnsweredRequest) => void;
  readonly onExchange: ((exchange: Exchange) => void) | undefined;
  readonly clock: (() => Date) | undefined;
  readonly writeAccessLine: WriteAccessLine | undefined;
}): Promise<Listening> {
  const { deployment, distribution, port, origins, onRequest, onExchange, clock, writeAccessLine } = options;
  // An origin access control signs as the distribution, to which the policy of the bucket gives access.
  const sign = { ...credentialsOf(distribution.ref), region: deployment.account.region };
  const resolveOrigin = (domainName: string): OriginAddress => {
    const address = origins.get(domainName);
    if (!address) throw new Error(`nothing on this machine stands in for ${domainName}`);
    return { ...address, sign };
  };
  return startDistribution({
    port,
    distribution: distribution.properties().DistributionConfig as Properties,
    resources: readDistributionResources(deployment),
    resolveOrigin,
    onRequest,
    ...(onExchange && { onExchange }),
    ...(clock && { clock }),
    ...(writeAccessLine && { writeAccessLine }),
  });
}

/** Finds the distribution whose address is the value of an output. Call it before local addresses replace those of AWS. @throws Error */
export function distributionOfOutput(deployment: Deployment, output: string): Resource {
  const { hostname } = new URL(deployment.output(output));
  const found = deployment
    .resources('AWS::CloudFront::Distribution')
    .find((resource) => resource.attribute('DomainName') === hostname);
  if (!found) throw new Error(`the output ${output} is not the address of a distribution`);
  return found;
}

function readDistributionResources(deployment: Deployment): DistributionResources {
  const byRef = (type: string): Record<string, Properties> =>
    Object.fromEntries(deployment.resources(type).map((resource) => [resource.ref, resource.properties()]));
  return {
    functions: Object.fromEntries(
      deployment
        .resources('AWS::CloudFront::Function')
        .map((resource) => [resource.attribute('FunctionARN'), { code: readCode(resource) }]),
    ),
    cachePolicies: byRef('AWS::CloudFront::CachePolicy'),
    originRequestPolicies: byRef('AWS::CloudFront::OriginRequestPolicy'),
    responseHeadersPolicies: byRef('AWS::CloudFront::ResponseHeadersPolicy'),
    originAccessControls: byRef('AWS::CloudFront::OriginAccessControl'),
  };
}

function readCode(resource: Resource): string {
  return readProperties(
    resource.logicalId,
    resource.properties(),
    (take) => {
      const { Runtime } = take<{ Runtime: string }>('FunctionConfig');
      if (Runtime !== 'cloudfront-js-2.0')
        throw new Error(`${resource.logicalId}: the local AWS does not support ${Runtime}`);
      return take<string>('FunctionCode');
    },
    ['AutoPublish', 'Name', 'Tags'],
  );
}

interface DistributionOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** The resolved `DistributionConfig` of the template. */
  readonly distribution: Properties;
  readonly resources: DistributionResources;
  /** Finds the local server that stands in for a domain name; called for every request. */
  readonly resolveOrigin: (domainName: string) => OriginAddress;
  readonly onRequest?: (request: AnsweredRequest) => void;
  readonly onExchange?: (exchange: Exchange) => void;
  readonly writeAccessLine?: WriteAccessLine;
  /** The clock of cache lifetimes and signatures, in place of those of the machine. */
  readonly clock?: () => Date;
}

/** The most that request line and headers together may take. Source: CloudFront quotas. */
const HEAD_MAX_BYTES = 32_768;

/**
 * Starts a CloudFront distribution, made from its configuration in the template, as an HTTP/1.1 server.
 * @throws Error naming a part of the configuration that the local CloudFront does not implement.
 */
export async function startDistribution(options: DistributionOptions): Promise<Listening> {
  const { clock } = options;
  const now = clock ?? (() => new Date());
  const context: FetchContext = {
    distribution: readDistribution(options.distribution, options.resources),
    cache: memoryCache(),
    client: originClient(options.resolveOrigin, now),
    now,
    elapsedMs: clock ? () => clock().getTime() : () => performance.now(),
  };
  const answering = new WeakMap<Socket, ServerResponse>();
  const serve = (message: IncomingMessage, response: ServerResponse, expectsContinue: boolean) => {
    answering.set(message.socket, response);
    response.once('close', () => answering.delete(message.socket));
    void serveRequest(context, message, response, {
      expectsContinue,
      log: options.onRequest,
      writeAccessLine: options.writeAccessLine,
      onExchange: options.onExchange,
    });
  };
  const server = createServer({
    maxHeaderSize: HEAD_MAX_BYTES,
    // No limit on large uploads: the origin decides what is too slow.
    requestTimeout: 0,
    keepAliveTimeout: 75_000,
    // `serveRequest` refuses a request without `Host`, with a page. Node's own refusal would have no body.
    requireHostHeader: false,
  });
  server.on('request', (message, response) => serve(message, response, false));
  server.on('checkContinue', (message, response) => serve(message, response, true));
  server.on('checkExpectation', (message, response) => serve(message, response, false));
  server.on('clientError', (_error, socket: Socket) => refuseMalformed(socket, answering.get(socket)));
  // CloudFront is no proxy, so it refuses CONNECT. Without this listener, Node would hang up without an answer.
  server.on('connect', (_message, socket: Duplex) => refuseMalformed(socket, undefined));

  const { port, close } = await listenOnLocalhost(server, options.port);
  return {
    port,
    async close() {
      context.client.close();
      await close();
    },
  };
}

/** Refuses what is not HTTP, and `CONNECT`, unless an answer is already on its way. */
function refuseMalformed(socket: Duplex, response: ServerResponse | undefined): void {
  if (!socket.writable || response?.headersSent) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = unroutedError(400, newRequestId());
  const head = [...headers].map(([name, values]) => `${name}: ${values.join(', ')}`);
  socket.end(`HTTP/1.1 ${status} Bad Request\r\n${head.join('\r\n')}\r\nconnection: close\r\n\r\n${body}`);
}
