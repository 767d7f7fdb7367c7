import type { Deployment, Properties, Resource } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';
import { labelOf } from './function-config.ts';
import { type FunctionCredentials, functionCredentials } from './function-credentials.ts';

/** One Lambda Web Function: a plain HTTP server that Lambda runs, behind an endpoint with a domain name. */
export interface WebFunctionConfig {
  readonly label: string;
  readonly name: string;
  /** Of the endpoint. */
  readonly domainName: string;
  readonly roleArn: string;
  readonly credentials: FunctionCredentials;
  readonly codeDirectory: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Of one request. */
  readonly timeoutSeconds: number;
  readonly concurrencyPerEnvironment: number;
  readonly environmentsMax: number;
}

/** What the service takes when the template does not say. Source: Lambda API Reference, CreateWebFunctionRevision. */
const DEFAULT_TIMEOUT_SECONDS = 30;
const DEFAULT_CONCURRENCY = 64;
const DEFAULT_ENVIRONMENTS = 10_000;

/** Every Web Function endpoint, with the function and the revision behind it. */
export function readWebFunctions(deployment: Deployment): WebFunctionConfig[] {
  return deployment.resources('AWS::Lambda::WebFunctionEndpoint').map((endpoint) => readEndpoint(endpoint, deployment));
}

function readEndpoint(endpoint: Resource, deployment: Deployment): WebFunctionConfig {
  const { functionArn, revisionId, environmentsMax } = readEndpointProperties(endpoint);
  const fn = deployment
    .resources('AWS::Lambda::WebFunction')
    .find((resource) => resource.attribute('FunctionArn') === functionArn);
  const revision = deployment
    .resources('AWS::Lambda::WebFunctionRevision')
    .find((resource) => resource.ref === revisionId);
  if (!fn || !revision) throw new Error(`${endpoint.logicalId} belongs to no function or has no revision`);
  return {
    label: labelOf(fn),
    name: fn.ref,
    domainName: endpoint.attribute('DomainName'),
    credentials: functionCredentials(fn.ref),
    environmentsMax,
    ...readRevision(revision, deployment),
  };
}

function readEndpointProperties(endpoint: Resource) {
  return readProperties(
    endpoint.logicalId,
    endpoint.properties(),
    (take) => {
      const auth = take<string>('AuthType');
      if (auth !== 'ApplicationManaged') throw new Error(`${endpoint.logicalId}: no ${auth} on one machine`);
      const [weighted, ...others] = take<{ RevisionId: string }[]>('RevisionWeights');
      if (!weighted || others.length > 0) throw new Error(`${endpoint.logicalId} must have exactly one revision`);
      return {
        functionArn: take<string>('FunctionName'),
        revisionId: weighted.RevisionId,
        environmentsMax:
          take<{ MaxEnvironments?: number }>('ScalingConfig', {}).MaxEnvironments ?? DEFAULT_ENVIRONMENTS,
      };
    },
    // A limit of requests per second against bills; nobody pays here.
    ['EndpointName', 'EndpointType', 'Description', 'ThrottleConfig'],
  );
}

function readRevision(revision: Resource, deployment: Deployment) {
  const { BuildConfig, ServiceConfig } = revision.properties() as {
    BuildConfig: { CodeConfig: { S3Object: { Bucket: string; Key: string } }; RuntimeConfig: { Runtime: string } };
    ServiceConfig: Properties;
  };
  const { Runtime } = BuildConfig.RuntimeConfig;
  if (!Runtime.startsWith('nodejs')) throw new Error(`${revision.logicalId}: no ${Runtime} on one machine`);
  const { Bucket, Key } = BuildConfig.CodeConfig.S3Object;
  return readProperties(
    revision.logicalId,
    ServiceConfig,
    (take) => ({
      codeDirectory: deployment.assetPath(Bucket, Key),
      roleArn: take<string>('ExecutionRoleArn'),
      variables: take<Record<string, string>>('EnvironmentVariables', {}),
      timeoutSeconds: take<number>('TimeoutSeconds', DEFAULT_TIMEOUT_SECONDS),
      concurrencyPerEnvironment: take<number>('MaxConcurrencyPerEnvironment', DEFAULT_CONCURRENCY),
    }),
    ['TelemetryConfig'],
  );
}
