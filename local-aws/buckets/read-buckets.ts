import type { BucketOptions } from '../aws-front/aws-front.ts';
import type { PolicyDocument } from '../aws-front/policy-document.ts';
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
 * What is to be counted (`MetricsConfigurations`) is CloudWatch's to show.
 */
const MEANINGLESS = [
  'BucketEncryption',
  'BucketName',
  'LifecycleConfiguration',
  'MetricsConfigurations',
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
  return deployment.resources('AWS::S3::Bucket').map((resource) => {
    const policy = policies.find(({ bucket }) => bucket === resource.ref)?.policy;
    const { hasEvents, cors } = readBucket(resource);
    return {
      name: resource.ref,
      regionalDomainName: resource.attribute('RegionalDomainName'),
      hasEvents,
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
      hasEvents: tellsEventBridge(resource.logicalId, take('NotificationConfiguration', {})),
    }),
    MEANINGLESS,
  );
}

/** @returns whether EventBridge is told, which `EventBridgeConfiguration` says by being there unless it says otherwise. */
function tellsEventBridge(logicalId: string, configuration: Readonly<Record<string, unknown>>): boolean {
  const off = { EventBridgeEnabled: false };
  return readProperties(
    `${logicalId}.NotificationConfiguration`,
    configuration,
    (take) => take<{ EventBridgeEnabled?: boolean }>('EventBridgeConfiguration', off).EventBridgeEnabled ?? true,
  );
}
