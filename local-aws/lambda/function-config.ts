import type { Deployment, Properties, Resource } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';
import { type FunctionCredentials, functionCredentials } from './function-credentials.ts';

/** One Lambda function as the template describes it. */
export interface FunctionConfig {
  /** For people: the logical id without CDK's hash. */
  readonly label: string;
  readonly name: string;
  readonly arn: string;
  readonly roleArn: string;
  readonly credentials: FunctionCredentials;
  /** The directory with its code. */
  readonly codeDirectory: string;
  /** `<module>.<export>`. */
  readonly handler: string;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  /** The variables of the template, and no others. */
  readonly variables: Readonly<Record<string, string>>;
  /** How many may run at once; more are throttled. Absent: as many as there is room for. */
  readonly reservedConcurrency?: number;
}

/** The processor, names and where logs and traces go mean nothing on one machine. */
const MEANINGLESS = [
  'Architectures',
  'Description',
  'EphemeralStorage',
  'FunctionName',
  'LoggingConfig',
  'Tags',
  'TracingConfig',
];

/** Every function that something may invoke: all but those CloudFormation calls while it deploys. */
export function readFunctions(deployment: Deployment): FunctionConfig[] {
  const helpers = new Set(deploymentHelpers(deployment).map(({ ref }) => ref));
  return deployment
    .resources('AWS::Lambda::Function')
    .filter(({ ref }) => !helpers.has(ref))
    .map((resource) => readFunction(resource, deployment));
}

/** The functions behind custom resources; what those do, the local environment does itself. */
export function deploymentHelpers(deployment: Deployment): Resource[] {
  const custom = deployment.resources(...CUSTOM_RESOURCES);
  const arns = new Set(custom.map((resource) => resource.properties().ServiceToken));
  return deployment.resources('AWS::Lambda::Function').filter((resource) => arns.has(resource.attribute('Arn')));
}

const CUSTOM_RESOURCES = ['Custom::CDKBucketDeployment', 'Custom::S3AutoDeleteObjects', 'Custom::S3ObjectCopy'];

function readFunction(resource: Resource, deployment: Deployment): FunctionConfig {
  return readProperties(
    resource.logicalId,
    resource.properties(),
    (take) => {
      const runtime = take<string>('Runtime');
      if (!runtime.startsWith('nodejs')) throw new Error(`${resource.logicalId}: no ${runtime} on one machine`);
      const { S3Bucket = '', S3Key = '' } = take<{ S3Bucket?: string; S3Key?: string }>('Code');
      const reserved = take<number | ''>('ReservedConcurrentExecutions', '');
      return {
        label: labelOf(resource),
        name: resource.ref,
        arn: resource.attribute('Arn'),
        roleArn: take<string>('Role'),
        credentials: functionCredentials(resource.ref),
        codeDirectory: deployment.assetPath(S3Bucket, S3Key),
        handler: take<string>('Handler'),
        memoryMb: Number(take('MemorySize', 128)),
        timeoutSeconds: Number(take('Timeout', 3)),
        variables: readVariables(take<Properties>('Environment', {})),
        ...(reserved !== '' && { reservedConcurrency: Number(reserved) }),
      };
    },
    MEANINGLESS,
  );
}

function readVariables({ Variables = {} }: { Variables?: Record<string, unknown> }): Record<string, string> {
  return Object.fromEntries(Object.entries(Variables).map(([name, value]) => [name, String(value)]));
}

/** CDK ends logical ids with a hash of eight digits. */
export function labelOf({ logicalId }: Resource): string {
  return logicalId.replace(/[0-9A-F]{8}$/, '');
}
