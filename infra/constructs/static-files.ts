import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as s3 from 'aws-cdk-lib/aws-s3';
import * as s3deploy from 'aws-cdk-lib/aws-s3-deployment';
import { Construct, type IConstruct } from 'constructs';
import { ERRORS, type ErrorCode } from '../../shared/contract/errors.ts';
import { acceptFindings } from './accepted-finding.ts';
import { acceptCopierRole } from './cdk-copier.ts';
import { PRIVATE_BUCKET } from './private-bucket.ts';

/** Files that are copied into the bucket together. */
export interface FileSet {
  readonly sources: s3deploy.ISource[];
  readonly prefix?: string;
  readonly cacheControl: s3deploy.CacheControl;
  /** The type of all files of the set; without it, the extension of each file gives its type. */
  readonly contentType?: string;
  readonly keepsEarlierFiles?: boolean;
}

/** A private bucket of files that a distribution serves; a deployment that changes files copies them again. */
export class StaticFiles extends Construct {
  readonly bucket: s3.Bucket;
  /** The last copy so far, which the next one waits for. */
  private previous: IConstruct | undefined;

  /** @param sets  by construct id, copied in this order; no prefix may start with another set's prefix. */
  constructor(scope: Construct, id: string, sets: Readonly<Record<string, FileSet>>) {
    super(scope, id);
    this.bucket = new s3.Bucket(this, 'Bucket', {
      ...PRIVATE_BUCKET,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    acceptFindings(this.bucket, {
      S1: 'It holds only files that anyone may read; only the distribution and deployments access it',
    });
    for (const [name, set] of Object.entries(sets)) this.add(name, set);
  }

  /** Copies another set after those so far. The set may name what was made after this construct, such as the distribution. */
  add(name: string, { sources, prefix, cacheControl, contentType, keepsEarlierFiles = false }: FileSet): void {
    const deployment = new s3deploy.BucketDeployment(this, name, {
      sources,
      destinationBucket: this.bucket,
      // Without this the bucket could not be deleted with its stack.
      retainOnDelete: false,
      prune: !keepsEarlierFiles,
      logGroup: deploymentLogs(Stack.of(this)),
      ...(prefix !== undefined && { destinationKeyPrefix: prefix }),
      cacheControl: [cacheControl],
      ...(contentType !== undefined && { contentType }),
    });
    this.acceptCopier(deployment.handlerRole);
    // The dependency is between the two copies only. The first construct also holds the function that makes both copies.
    const copy = deployment.node.findChild('CustomResource');
    if (this.previous) copy.node.addDependency(this.previous);
    this.previous = copy;
  }

  private acceptCopier(role: iam.IRole): void {
    acceptCopierRole(role, {
      bucket: this.bucket,
      prefix: '',
      actions: ['s3:GetObject*', 's3:GetBucket*', 's3:List*', 's3:DeleteObject*', 's3:Abort*'],
    });
    const copier = role.node.scope as lambda.Function;
    acceptFindings(copier, {
      L1: 'The code of this deployment helper and its Python version come with CDK, and are upgraded with it',
    });
  }
}

/**
 * The log group of the function that fills all static buckets of a stack. The one that CDK would make is kept for ever, even
 * without the stack.
 */
function deploymentLogs(stack: Stack): logs.ILogGroup {
  const id = 'StaticFilesLogs';
  const existing = stack.node.tryFindChild(id) as logs.LogGroup | undefined;
  return (
    existing ??
    new logs.LogGroup(stack, id, { retention: logs.RetentionDays.ONE_MONTH, removalPolicy: RemovalPolicy.DESTROY })
  );
}

/** A file `errors/<code>.json` for each code: the bodies of a distribution's error pages. */
export function errorBodies(codes: readonly ErrorCode[]): s3deploy.ISource[] {
  return codes.map((code) => s3deploy.Source.jsonData(`errors/${code}.json`, { error: code }));
}

/**
 * The custom error responses of a distribution: our JSON instead of the XML of S3 or the HTML of CloudFront.
 * @param statuses  our error code for each status of an origin or of CloudFront.
 * @param ttl  how long the edge may cache the error.
 */
export function errorResponses(statuses: Readonly<Record<number, ErrorCode>>, ttl: Duration) {
  return Object.entries(statuses).map(([status, code]) => ({
    httpStatus: Number(status),
    responseHttpStatus: ERRORS[code].status,
    responsePagePath: `/errors/${code}.json`,
    ttl,
  }));
}

/** Our JSON for a URL that is too long for CloudFront. It keeps the status 414, since no code of ours has that meaning. */
export const URL_TOO_LONG = {
  httpStatus: 414,
  responseHttpStatus: 414,
  responsePagePath: '/errors/invalid_request.json',
  ttl: Duration.seconds(0),
};
