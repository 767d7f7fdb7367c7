import { credentialsOf } from '../aws-front/principals.ts';
import type { Credentials } from '../aws-front/signature.ts';
import type { Deployment, Properties, Resource } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';

/** One Lambda function as the template describes it. */
export interface FunctionConfig {
  /** The logical id without CDK's hash, for people. */
  readonly label: string;
  readonly name: string;
  readonly arn: string;
  readonly roleArn: string;
  readonly credentials: Required<Credentials>;
  /** The directory of its code. */
  readonly codeDirectory: string;
  /** `<module>.<export>`. */
  readonly handler: string;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  /** The variables of the template, and no others. */
  readonly variables: Readonly<Record<string, string>>;
  /** How many events may run at once; more are throttled. When it is absent, the function has no limit of its own. */
  readonly reservedConcurrency?: number;
  /** The name of the log group that its lines go to. */
  readonly logGroup: string | undefined;
}

/** One Lambda Web Function: a plain HTTP server that Lambda runs behind an endpoint with a domain name. */
export interface WebFunctionConfig {
  readonly label: string;
  readonly name: string;
  /** The domain name of the endpoint. */
  readonly domainName: string;
  readonly roleArn: string;
  readonly credentials: Required<Credentials>;
  readonly codeDirectory: string;
  readonly variables: Readonly<Record<string, string>>;
  /** The limit for one request. */
  readonly timeoutSeconds: number;
  readonly concurrencyPerEnvironment: number;
  readonly environmentsMax: number;
  readonly logGroup: string | undefined;
}

/** Processor, names, disk and traces have no effect in the local AWS. */
const NO_EFFECT = ['Architectures', 'Description', 'EphemeralStorage', 'FunctionName', 'Tags', 'TracingConfig'];

interface LoggingConfig {
  readonly LogGroup?: string;
}

/** All functions except those that only CloudFormation calls, while it deploys. */
export function readFunctions(deployment: Deployment): FunctionConfig[] {
  const helpers = new Set(deploymentHelpers(deployment).map(({ ref }) => ref));
  return deployment
    .resources('AWS::Lambda::Function')
    .filter(({ ref }) => !helpers.has(ref))
    .map((resource) => readFunction(resource, deployment));
}

function readFunction(resource: Resource, deployment: Deployment): FunctionConfig {
  return readProperties(
    resource.logicalId,
    resource.properties(),
    (take) => {
      const runtime = take<string>('Runtime');
      if (!runtime.startsWith('nodejs'))
        throw new Error(`${resource.logicalId}: the local AWS does not support ${runtime}`);
      const { S3Bucket = '', S3Key = '' } = take<{ S3Bucket?: string; S3Key?: string }>('Code');
      const reserved = take<number | ''>('ReservedConcurrentExecutions', '');
      return {
        label: labelOf(resource),
        name: resource.ref,
        arn: resource.attribute('Arn'),
        roleArn: take<string>('Role'),
        credentials: credentialsOf(resource.ref),
        codeDirectory: deployment.assetPath(S3Bucket, S3Key),
        handler: take<string>('Handler'),
        memoryMb: Number(take('MemorySize', 128)),
        timeoutSeconds: Number(take('Timeout', 3)),
        variables: readVariables(take<Properties>('Environment', {})),
        logGroup: take<LoggingConfig>('LoggingConfig', {}).LogGroup,
        ...(reserved !== '' && { reservedConcurrency: Number(reserved) }),
      };
    },
    NO_EFFECT,
  );
}

function readVariables({ Variables = {} }: { Variables?: Record<string, unknown> }): Record<string, string> {
  return Object.fromEntries(Object.entries(Variables).map(([name, value]) => [name, String(value)]));
}

/** The logical id without the hash of eight digits that CDK appends. */
function labelOf({ logicalId }: Resource): string {
  return logicalId.replace(/[0-9A-F]{8}$/, '');
}

const CUSTOM_RESOURCES = ['Custom::CDKBucketDeployment', 'Custom::S3AutoDeleteObjects', 'Custom::S3ObjectCopy'];

/**
 * The functions behind custom resources. The local AWS does not run them: it puts the files into buckets itself, finds a copied asset at
 * its source, and deletes no stack.
 */
export function deploymentHelpers(deployment: Deployment): Resource[] {
  const custom = deployment.resources(...CUSTOM_RESOURCES);
  const arns = new Set(custom.map((resource) => resource.properties().ServiceToken));
  return deployment.resources('AWS::Lambda::Function').filter((resource) => arns.has(resource.attribute('Arn')));
}

/** Lambda's values where the template gives none. Source: Lambda API Reference, CreateWebFunctionRevision. */
const DEFAULT_TIMEOUT_SECONDS = 30;

const DEFAULT_CONCURRENCY = 64;

const DEFAULT_ENVIRONMENTS = 10_000;

/** All Web Function endpoints, each with its function and its revision. */
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
    credentials: credentialsOf(fn.ref),
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
      if (auth !== 'ApplicationManaged')
        throw new Error(`${endpoint.logicalId}: the local AWS does not support ${auth}`);
      const [weighted, ...others] = take<{ RevisionId: string }[]>('RevisionWeights');
      if (!weighted || others.length > 0) throw new Error(`${endpoint.logicalId} must have exactly one revision`);
      return {
        functionArn: take<string>('FunctionName'),
        revisionId: weighted.RevisionId,
        environmentsMax:
          take<{ MaxEnvironments?: number }>('ScalingConfig', {}).MaxEnvironments ?? DEFAULT_ENVIRONMENTS,
      };
    },
    // ThrottleConfig limits requests per second to limit costs, and the local Lambda costs nothing.
    ['EndpointName', 'EndpointType', 'Description', 'ThrottleConfig'],
  );
}

function readRevision(revision: Resource, deployment: Deployment) {
  const { BuildConfig, ServiceConfig } = revision.properties() as {
    BuildConfig: { CodeConfig: { S3Object: { Bucket: string; Key: string } }; RuntimeConfig: { Runtime: string } };
    ServiceConfig: Properties;
  };
  const { Runtime } = BuildConfig.RuntimeConfig;
  if (!Runtime.startsWith('nodejs'))
    throw new Error(`${revision.logicalId}: the local AWS does not support ${Runtime}`);
  const { Bucket, Key } = BuildConfig.CodeConfig.S3Object;
  return readProperties(
    revision.logicalId,
    ServiceConfig,
    (take) => ({
      codeDirectory: deployment.assetPath(Bucket, Key),
      roleArn: take<string>('ExecutionRoleArn'),
      variables: take<Record<string, string>>('EnvironmentVariables', {}),
      timeoutSeconds: take<number>('TimeoutSeconds', DEFAULT_TIMEOUT_SECONDS),
      logGroup: take<{ LoggingConfig?: LoggingConfig }>('TelemetryConfig', {}).LoggingConfig?.LogGroup,
      concurrencyPerEnvironment: take<number>('MaxConcurrencyPerEnvironment', DEFAULT_CONCURRENCY),
    }),
    [],
  );
}

export interface Surroundings {
  readonly region: string;
  /** The address of the AWS front, for all AWS services. */
  readonly awsEndpoint: string;
}

/**
 * The environment variables of a function: those of the template and those that Lambda sets. It has none of the variables of
 * the process that runs it, as on AWS.
 * Source: Lambda Developer Guide, "Defined runtime environment variables".
 */
export function functionVariables(
  fn: {
    readonly credentials: Required<Credentials>;
    readonly codeDirectory: string;
    readonly variables: Readonly<Record<string, string>>;
  },
  { region, awsEndpoint }: Surroundings,
): Record<string, string> {
  return {
    ...fn.variables,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: fn.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: fn.credentials.secretAccessKey,
    AWS_SESSION_TOKEN: fn.credentials.sessionToken,
    AWS_ENDPOINT_URL: awsEndpoint,
    LAMBDA_TASK_ROOT: fn.codeDirectory,
    LANG: 'en_US.UTF-8',
    TZ: ':UTC',
  };
}
