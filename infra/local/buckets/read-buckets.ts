import type { BucketOptions } from '../aws-front/aws-front.ts';
import type { PolicyDocument } from '../aws-front/principals.ts';
import type { CorsRule } from '../s3/cors.ts';
import type { Deployment, Resource } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';

export interface BucketConfig extends BucketOptions {
  readonly name: string;
  readonly regionalDomainName: string;
  /** Whether EventBridge hears of new objects. */
  readonly hasEvents: boolean;
}

/**
 * Encryption, ownership and public access change nothing that the bucket's policy does not say already. Versions are kept
 * for an operator of AWS, and nothing of ours asks for one: what is deleted here is gone. Lifecycle rules act by the day.
 */
const MEANINGLESS = [
  'BucketEncryption',
  'BucketName',
  'LifecycleConfiguration',
  'OwnershipControls',
  'PublicAccessBlockConfiguration',
  'Tags',
  'VersioningConfiguration',
];

/** Every bucket of the template with its policy. */
export function readBuckets(deployment: Deployment): BucketConfig[] {
  const policies = deployment.resources('AWS::S3::BucketPolicy').map((resource) =>
    readProperties(resource.logicalId, resource.properties(), (take) => ({
      bucket: take<string>('Bucket'),
      policy: take<PolicyDocument>('PolicyDocument'),
    })),
  );
  const told = new Set(deployment.resources('Custom::S3BucketNotifications').map(readNotifications));
  return deployment.resources('AWS::S3::Bucket').map((resource) => {
    const policy = policies.find(({ bucket }) => bucket === resource.ref)?.policy;
    const { hasEvents, cors } = readBucket(resource);
    return {
      name: resource.ref,
      regionalDomainName: resource.attribute('RegionalDomainName'),
      hasEvents: hasEvents || told.has(resource.ref),
      cors,
      ...(policy && { policy }),
    };
  });
}

function readBucket(resource: Resource): { cors: readonly CorsRule[]; hasEvents: boolean } {
  return readProperties(
    resource.logicalId,
    resource.properties(),
    (take) => ({
      cors: take<{ CorsRules: CorsRule[] }>('CorsConfiguration', { CorsRules: [] }).CorsRules,
      hasEvents: readConfiguration(resource.logicalId, take('NotificationConfiguration', {})),
    }),
    MEANINGLESS,
  );
}

/** CDK sets notifications by a custom resource. @returns the bucket that tells EventBridge; undefined when it does not. */
function readNotifications(resource: Resource): string | undefined {
  return readProperties(
    resource.logicalId,
    resource.properties(),
    (take) => {
      const bucket = take<string>('BucketName');
      return readConfiguration(resource.logicalId, take('NotificationConfiguration')) ? bucket : undefined;
    },
    ['Managed', 'ServiceToken', 'SkipDestinationValidation'],
  );
}

function readConfiguration(logicalId: string, configuration: Readonly<Record<string, unknown>>): boolean {
  return readProperties(`${logicalId}.NotificationConfiguration`, configuration, (take) =>
    Boolean(take<unknown>('EventBridgeConfiguration', false)),
  );
}
