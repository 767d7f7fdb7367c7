import type { BucketOptions } from '../aws-front/aws-front.ts';
import type { PolicyDocument } from '../aws-front/policy-document.ts';
import type { CorsRule } from '../s3/cors.ts';
import type { Deployment, Resource } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';

export interface BucketConfig extends BucketOptions {
  readonly name: string;
  readonly regionalDomainName: string;
  /** Whether EventBridge gets events of new objects. */
  readonly hasEvents: boolean;
}

/**
 * Properties without effect in the local S3. Encryption, ownership and public access add nothing to the policy of the bucket.
 * Versions are for the operator of a deployment; the local S3 keeps none. Lifecycle rules act after days.
 * `MetricsConfigurations` is for CloudWatch.
 */
const NO_EFFECT = [
  'BucketEncryption',
  'BucketName',
  'LifecycleConfiguration',
  'MetricsConfigurations',
  'OwnershipControls',
  'PublicAccessBlockConfiguration',
  'Tags',
  'VersioningConfiguration',
];

/** All buckets of the template, with their policies. */
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
    NO_EFFECT,
  );
}

/** Whether there is an `EventBridgeConfiguration` that does not disable events. */
function tellsEventBridge(logicalId: string, configuration: Readonly<Record<string, unknown>>): boolean {
  const off = { EventBridgeEnabled: false };
  return readProperties(
    `${logicalId}.NotificationConfiguration`,
    configuration,
    (take) => take<{ EventBridgeEnabled?: boolean }>('EventBridgeConfiguration', off).EventBridgeEnabled ?? true,
  );
}
