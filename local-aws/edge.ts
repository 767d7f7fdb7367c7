import type { OriginAddress } from './cloudfront/origin-client.ts';
import type { DistributionResources } from './cloudfront/resources.ts';
import type { AnsweredRequest } from './cloudfront/serve-request.ts';
import { startDistribution } from './cloudfront/start-distribution.ts';
import { functionCredentials } from './lambda/function-credentials.ts';
import type { Deployment, Properties, Resource } from './template/deployment.ts';
import { readProperties } from './template/read-properties.ts';

/** Starts a distribution of the template on a port of this machine. */
export async function startEdge(options: {
  readonly deployment: Deployment;
  readonly distribution: Resource;
  readonly port: number;
  /** By domain name: the port of the server that stands in for it. */
  readonly originPorts: ReadonlyMap<string, number>;
  readonly onRequest: (request: AnsweredRequest) => void;
  readonly clock: (() => Date) | undefined;
}): Promise<{ close(): Promise<void> }> {
  const { deployment, distribution, port, originPorts, onRequest, clock } = options;
  // An origin access control signs as the distribution, whom the bucket's policy lets in.
  const sign = { ...functionCredentials(distribution.ref), region: deployment.account.region };
  const resolveOrigin = (domainName: string): OriginAddress => {
    const originPort = originPorts.get(domainName);
    if (originPort === undefined) throw new Error(`nothing on this machine stands in for ${domainName}`);
    return { host: '127.0.0.1', port: originPort, sign };
  };
  return startDistribution({
    port,
    host: '127.0.0.1',
    distribution: distribution.properties().DistributionConfig as Properties,
    resources: readDistributionResources(deployment),
    resolveOrigin,
    onRequest,
    ...(clock && { clock }),
  });
}

/** The distribution whose address an output names, which must not be localized yet. @throws Error when it is none's. */
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
      if (Runtime !== 'cloudfront-js-2.0') throw new Error(`${resource.logicalId}: no ${Runtime} on one machine`);
      return take<string>('FunctionCode');
    },
    ['AutoPublish', 'Name', 'Tags'],
  );
}
