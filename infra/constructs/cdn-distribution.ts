import { Duration, Validations } from 'aws-cdk-lib';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import * as origins from 'aws-cdk-lib/aws-cloudfront-origins';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import { CacheControl } from 'aws-cdk-lib/aws-s3-deployment';
import { Construct } from 'constructs';
import type { StageConfig } from '../settings/stage.ts';
import { EdgeFunction } from './edge-function.ts';
import { errorBodies, errorResponses, StaticFiles, URL_TOO_LONG } from './static-files.ts';
import { acceptViewerSide, STRICT_TRANSPORT, viewerSide } from './viewer-side.ts';

/**
 * The edge revalidates with S3 after this time, so that a deleted link is dead within the promised minute without a purge.
 * The rest of the minute is for a response that was under way when the file was deleted.
 */
const CACHE_SECONDS = 55;

/**
 * The headers that S3 gives its answers about itself, and about how an object is stored. From answers below 400 the viewer-response function
 * removes all headers that are not for readers. But it does not run for the 416 of S3 and for the pages of errors, and a policy can only
 * remove headers by their names, of which it takes ten.
 */
const OF_S3 = [
  'server',
  'x-amz-bucket-region',
  'x-amz-delete-marker',
  'x-amz-expiration',
  'x-amz-id-2',
  'x-amz-replication-status',
  'x-amz-request-id',
  'x-amz-server-side-encryption',
  'x-amz-version-id',
];

/**
 * The "cdn" distribution: serves only uploaded files, on a host that shares no cookie with the dashboard. The bucket is private. The
 * distribution may read the objects of links. It may also list the bucket: otherwise S3 would answer an unknown link with 403 instead of
 * 404.
 */
export class CdnDistribution extends Construct {
  readonly distribution: cloudfront.Distribution;

  constructor(
    scope: Construct,
    id: string,
    props: { uploads: s3.Bucket; stage: StageConfig; webAclArn: string | undefined },
  ) {
    super(scope, id);
    const cachePolicy = new cloudfront.CachePolicy(this, 'CachePolicy', {
      minTtl: Duration.seconds(0),
      defaultTtl: Duration.seconds(CACHE_SECONDS),
      maxTtl: Duration.seconds(CACHE_SECONDS),
      // Compression would break Content-Length and ranges.
      enableAcceptEncodingGzip: false,
      enableAcceptEncodingBrotli: false,
    });
    const responseHeadersPolicy = this.responseHeaders();
    const request = new EdgeFunction(this, 'ViewerRequest', { file: 'cdn-viewer-request.js' });
    const response = new EdgeFunction(this, 'ViewerResponse', { file: 'cdn-viewer-response.js' });
    const errors = new StaticFiles(this, 'Errors', {
      Deployment: {
        sources: errorBodies(['invalid_request', 'not_found', 'method_not_allowed', 'service_unavailable', 'timeout']),
        // Tells browsers how long to cache an error. For the edge, `errorResponses` says it.
        cacheControl: CacheControl.noStore(),
      },
    });
    this.distribution = new cloudfront.Distribution(this, 'Distribution', {
      comment: 'Uploaded files',
      ...viewerSide(this, props, props.stage.cdnDomain),
      defaultBehavior: {
        // This grants listing only, without which S3 would answer 403 instead of 404 for a missing key. `grantRead` grants reading, because
        // it can limit reading to a prefix.
        origin: origins.S3BucketOrigin.withOriginAccessControl(props.uploads, {
          originAccessLevels: [cloudfront.AccessLevel.LIST],
        }),
        allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL, // the function answers 405 with our body
        cachePolicy,
        compress: false,
        viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
        responseHeadersPolicy,
        functionAssociations: [
          { function: request.function, eventType: cloudfront.FunctionEventType.VIEWER_REQUEST },
          { function: response.function, eventType: cloudfront.FunctionEventType.VIEWER_RESPONSE },
        ],
      },
      additionalBehaviors: {
        'errors/*': {
          origin: origins.S3BucketOrigin.withOriginAccessControl(errors.bucket),
          cachePolicy,
          compress: false,
          viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
          responseHeadersPolicy,
        },
      },
      // 416 has no error page: a client that resumes needs the `Content-Range` of S3's response, which the page lacks (decision 0013).
      errorResponses: [
        ...errorResponses({ 400: 'invalid_request', 403: 'not_found', 404: 'not_found' }, Duration.seconds(1)),
        URL_TOO_LONG,
        ...errorResponses(
          { 500: 'service_unavailable', 502: 'service_unavailable', 503: 'service_unavailable', 504: 'timeout' },
          Duration.seconds(0),
        ),
      ],
    });
    this.grantRead(props.uploads);
    acceptViewerSide(this.distribution, {
      webAclArn: props.webAclArn,
      domain: props.stage.cdnDomain,
      unfiltered:
        'A web ACL is charged by the month, so a stage may have none; this distribution serves only files, by their links',
      unlogged:
        'A line of this log has the address of the reader; a log without addresses is delivered to CloudWatch (decision 0029)',
    });
    Validations.of(this.distribution).acknowledge({
      id: 'Annotation::@aws-cdk/aws-cloudfront-origins:listBucketSecurityRisk',
      reason: 'The viewer-request function lets only /uploads/<token> through, so no request can list the bucket',
    });
  }

  /** Grants reading of `uploads/` only, because an object under `incoming/` is not a file yet. */
  private grantRead(uploads: s3.Bucket): void {
    uploads.addToResourcePolicy(
      new iam.PolicyStatement({
        principals: [new iam.ServicePrincipal('cloudfront.amazonaws.com')],
        actions: ['s3:GetObject'],
        resources: [uploads.arnForObjects('uploads/*')],
        conditions: { StringEquals: { 'AWS:SourceArn': this.distribution.distributionArn } },
      }),
    );
  }

  private responseHeaders(): cloudfront.ResponseHeadersPolicy {
    return new cloudfront.ResponseHeadersPolicy(this, 'ResponseHeaders', {
      securityHeadersBehavior: {
        contentTypeOptions: { override: true },
        strictTransportSecurity: STRICT_TRANSPORT,
        referrerPolicy: { referrerPolicy: cloudfront.HeadersReferrerPolicy.NO_REFERRER, override: true },
      },
      // For statuses of 400 and above: the viewer-response function gives these headers to the others.
      corsBehavior: {
        accessControlAllowOrigins: ['*'],
        accessControlAllowMethods: ['GET', 'HEAD'],
        accessControlAllowHeaders: ['*'],
        accessControlExposeHeaders: ['Content-Range'],
        accessControlAllowCredentials: false,
        originOverride: true,
      },
      customHeadersBehavior: {
        customHeaders: [{ header: 'Cross-Origin-Resource-Policy', value: 'cross-origin', override: true }],
      },
      removeHeaders: OF_S3,
    });
  }
}
