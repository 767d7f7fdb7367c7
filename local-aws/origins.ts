import type { BucketConfig } from './buckets/read-buckets.ts';
import type { OriginAddress } from './cloudfront/origin-client.ts';
import type { Compute } from './compute.ts';
import type { RestApi } from './gateway/rest-api.ts';
import { startGateway } from './gateway/start-gateway.ts';
import type { LogListener } from './lambda/invocation.ts';
import { startWebFunctionEndpoint } from './lambda/web-function-endpoint.ts';
import type { Deployment } from './template/deployment.ts';

/** The servers behind the edge. */
export interface Origins {
  /** The local servers, by the domain name that each stands in for. */
  readonly addresses: ReadonlyMap<string, OriginAddress>;
  /** Ends the processes of the Web Functions. The next request starts one. */
  stopWebFunctions(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a gateway for each API and an endpoint for each Web Function. Buckets are served at `bucketPort`. */
export async function startOrigins(options: {
  readonly deployment: Deployment;
  readonly apis: readonly RestApi[];
  readonly buckets: readonly BucketConfig[];
  readonly bucketPort: number;
  readonly compute: Compute;
  readonly onLog: LogListener;
  readonly onAccess: (group: string, line: string) => void;
}): Promise<Origins> {
  const { deployment, apis, buckets, bucketPort, compute, onLog, onAccess } = options;
  const { account } = deployment;
  const { lambda, webFunctions, surroundings } = compute;
  const onFailure = ({ requestId, reason }: { readonly requestId: string; readonly reason: string }) =>
    onLog({ function: 'gateway', line: `${requestId} ${reason}` });
  const gateways = await Promise.all(apis.map((api) => startGateway({ api, account, lambda, onFailure, onAccess })));
  const endpoints = await Promise.all(webFunctions.map((fn) => startWebFunctionEndpoint(fn, surroundings, onLog)));
  const addresses = new Map<string, OriginAddress>();
  for (const { regionalDomainName } of buckets) addresses.set(regionalDomainName, { port: bucketPort });
  for (const [index, { port }] of gateways.entries()) addresses.set(apis[index]?.domainName ?? '', { port });
  for (const [index, { port, handle }] of endpoints.entries()) {
    addresses.set(webFunctions[index]?.domainName ?? '', { port, handle });
  }
  return {
    addresses,
    async stopWebFunctions() {
      await Promise.all(endpoints.map((endpoint) => endpoint.stopEnvironments()));
    },
    async close() {
      await Promise.all([...gateways, ...endpoints].map((server) => server.close()));
    },
  };
}
