import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished } from 'vitest';
import type { DistributionResources } from '../../../local-aws/cloudfront/distribution.ts';
import type { OriginAddress } from '../../../local-aws/cloudfront/origin-client.ts';
import type { AnsweredRequest } from '../../../local-aws/cloudfront/serve-request.ts';
import { startDistribution } from '../../../local-aws/cloudfront/start-distribution.ts';
import type { Properties } from '../../../local-aws/template/deployment.ts';

const CACHING_DISABLED = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
const ALL_METHODS = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE'];

/** Forwards all that the API of the service needs. It equals the policy in the service's own stack. */
export const API_ORIGIN_REQUEST_POLICY = {
  OriginRequestPolicyConfig: {
    Name: 'api',
    HeadersConfig: { HeaderBehavior: 'allExcept', Headers: ['Host', 'Expect'] },
    CookiesConfig: { CookieBehavior: 'all' },
    QueryStringsConfig: { QueryStringBehavior: 'all' },
  },
};

/** Caches an answer for a minute at most; the cache key is the path of the request alone. */
export const MINUTE_CACHE_POLICY = {
  CachePolicyConfig: {
    Name: 'minute',
    MinTTL: 0,
    DefaultTTL: 60,
    MaxTTL: 60,
    ParametersInCacheKeyAndForwardedToOrigin: {
      CookiesConfig: { CookieBehavior: 'none' },
      HeadersConfig: { HeaderBehavior: 'none' },
      QueryStringsConfig: { QueryStringBehavior: 'none' },
      EnableAcceptEncodingGzip: false,
      EnableAcceptEncodingBrotli: false,
    },
  },
};

export const RESOURCES: DistributionResources = {
  functions: {},
  cachePolicies: { minute: MINUTE_CACHE_POLICY },
  originRequestPolicies: { api: API_ORIGIN_REQUEST_POLICY },
  responseHeadersPolicies: {},
  originAccessControls: {},
};

/** A behavior that forwards everything and caches nothing. */
export const PASS_BEHAVIOR = {
  TargetOriginId: 'origin',
  ViewerProtocolPolicy: 'redirect-to-https',
  AllowedMethods: ALL_METHODS,
  CachePolicyId: CACHING_DISABLED,
  OriginRequestPolicyId: 'api',
};

/** A behavior that caches answers for a minute at most. */
export const CACHE_BEHAVIOR = { TargetOriginId: 'origin', ViewerProtocolPolicy: 'https-only', CachePolicyId: 'minute' };

export const ORIGIN = {
  Id: 'origin',
  DomainName: 'origin.example.com',
  CustomOriginConfig: { OriginProtocolPolicy: 'https-only', OriginSSLProtocols: ['TLSv1.2'] },
};

export interface Rig {
  readonly port: number;
  readonly log: AnsweredRequest[];
  /** Moves the distribution's clock. */
  advance(seconds: number): void;
  close(): Promise<void>;
}

export interface RigOptions {
  readonly config?: Properties;
  readonly resources?: Partial<DistributionResources>;
  /** Origins besides `origin.example.com`, by domain name. */
  readonly origins?: Readonly<Record<string, OriginAddress>>;
  /** Signs requests to the origin. */
  readonly sign?: NonNullable<OriginAddress['sign']>;
  /** Whether the distribution uses the clocks of the machine; then {@link Rig.advance} has no effect. */
  readonly isClockOfMachine?: boolean;
}

/** Starts a distribution in front of one origin. Both are closed when the test ends. */
export async function startRig(listener: RequestListener, options: RigOptions = {}): Promise<Rig> {
  const origin = await startOrigin(listener);
  let time = Date.parse('2026-11-21T12:00:00Z');
  const log: AnsweredRequest[] = [];
  const distribution = await startDistribution({
    port: 0,
    distribution: { Enabled: true, Origins: [ORIGIN], DefaultCacheBehavior: PASS_BEHAVIOR, ...options.config },
    resources: { ...RESOURCES, ...options.resources },
    resolveOrigin: (name) => {
      if (name === 'origin.example.com') return { port: portOf(origin), ...(options.sign && { sign: options.sign }) };
      const address = options.origins?.[name];
      if (!address) throw new Error(`no such host: ${name}`);
      return address;
    },
    onRequest: (request) => log.push(request),
    ...(!options.isClockOfMachine && { clock: () => new Date(time) }),
  });
  onTestFinished(() => distribution.close());
  const advance = (seconds: number) => {
    time += seconds * 1_000;
  };
  return { port: distribution.port, log, advance, close: distribution.close };
}

export async function startOrigin(listener: RequestListener): Promise<Server> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
}

/** Sends a request with exactly these headers and this target; `fetch` would change both. */
export function ask(
  { port }: { port: number },
  path: string,
  options: { method?: string; headers?: Record<string, string | string[]>; body?: string | Buffer } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body } = options;
    const request = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false });
    request.on('error', reject);
    request.on('response', (response) => {
      buffer(response).then(
        (bytes) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: bytes, text: bytes.toString() }),
        reject,
      );
    });
    request.end(body);
  });
}

/** Expects an error page of CloudFront's own, without headers of the service. */
export function expectOwnPage({ status, headers, text }: Reply, expected: number): void {
  expect(status).toBe(expected);
  expect(text).toContain(`<H1>${expected} ERROR</H1>`);
  expect(headers).toMatchObject({
    'content-type': 'text/html',
    'x-amz-cf-id': expect.stringMatching(/\S/),
    'x-cache': 'Error from cloudfront',
  });
  expect(headers).not.toHaveProperty('x-request-id');
  expect(headers).not.toHaveProperty('retry-after');
}

/** A CloudFormation function association with this code. */
export function withFunction(eventType: 'viewer-request' | 'viewer-response', code: string) {
  return {
    association: { FunctionAssociations: [{ EventType: eventType, FunctionARN: 'arn:function' }] },
    resources: { functions: { 'arn:function': { code } } },
  };
}
