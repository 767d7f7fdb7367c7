import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as s3 from 'aws-cdk-lib/aws-s3';
import * as s3deploy from 'aws-cdk-lib/aws-s3-deployment';
import { Construct } from 'constructs';
import { ERRORS, type ErrorCode } from '../../shared/errors.ts';

/** A private bucket of files that a distribution serves as they are; every deployment makes it anew from its sources. */
export class StaticFiles extends Construct {
  readonly bucket: s3.Bucket;

  constructor(
    scope: Construct,
    id: string,
    props: {
      sources: s3deploy.ISource[];
      /** How long browsers and the edge may keep them; at 0 they may not store them at all. */
      cacheSeconds: number;
      prefix?: string;
    },
  ) {
    super(scope, id);
    this.bucket = new s3.Bucket(this, 'Bucket', {
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      encryption: s3.BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    new s3deploy.BucketDeployment(this, 'Deployment', {
      sources: props.sources,
      destinationBucket: this.bucket,
      // Else the bucket could not be deleted with its stack.
      retainOnDelete: false,
      logGroup: deploymentLogs(Stack.of(this)),
      ...(props.prefix !== undefined && { destinationKeyPrefix: props.prefix }),
      cacheControl: [
        props.cacheSeconds === 0
          ? s3deploy.CacheControl.noStore()
          : s3deploy.CacheControl.maxAge(Duration.seconds(props.cacheSeconds)),
      ],
    });
  }
}

/** Of the function that fills all static buckets of a stack; CDK's own would be kept for ever, also without its stack. */
function deploymentLogs(stack: Stack): logs.ILogGroup {
  const id = 'StaticFilesLogs';
  const known = stack.node.tryFindChild(id) as logs.LogGroup | undefined;
  return (
    known ??
    new logs.LogGroup(stack, id, { retention: logs.RetentionDays.ONE_MONTH, removalPolicy: RemovalPolicy.DESTROY })
  );
}

/** `errors/<code>.json` for each code: the bodies of the errors that a distribution makes itself. */
export function errorBodies(codes: readonly ErrorCode[]): s3deploy.ISource[] {
  return codes.map((code) => s3deploy.Source.jsonData(`errors/${code}.json`, { error: code }));
}

/**
 * The custom error responses of a distribution: where S3 or CloudFront would answer XML or HTML, our JSON.
 * @param statuses  the status an origin or CloudFront gives → the code it becomes.
 * @param ttl  how long the edge may remember the error.
 */
export function errorResponses(statuses: Readonly<Record<number, ErrorCode>>, ttl: Duration) {
  return Object.entries(statuses).map(([status, code]) => ({
    httpStatus: Number(status),
    responseHttpStatus: ERRORS[code].status,
    responsePagePath: `/errors/${code}.json`,
    ttl,
  }));
}
