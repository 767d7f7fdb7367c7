import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { Aws, Duration, SecretValue } from 'aws-cdk-lib';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import * as origins from 'aws-cdk-lib/aws-cloudfront-origins';
import * as s3 from 'aws-cdk-lib/aws-s3';
import * as s3deploy from 'aws-cdk-lib/aws-s3-deployment';
import { Construct } from 'constructs';
import { ROUTES } from '../../functions/routes.ts';
import { OPENAPI_PATH, openApiDocument } from '../../shared/contract/document.ts';
import { FOR_PROGRAMS_PATH, forPrograms } from '../../shared/contract/for-programs.ts';
import { INLINE_BODY_MAX_BYTES, MULTIPART_FRAMING_MAX_BYTES } from '../../shared/contract/limits.ts';
import type { DashboardFiles } from '../bundle/build-dashboard.ts';
import { SECURITY_TEXT_PATH, securityText } from '../settings/security-text.ts';
import type { StageConfig } from '../settings/stage.ts';
import { EdgeFunction } from './edge-function.ts';
import { GatewayKey } from './gateway-key.ts';
import { GATEWAY_STAGE } from './gateway-stage.ts';
import type { SharedResources } from './needs.ts';
import { errorBodies, errorResponses, StaticFiles, URL_TOO_LONG } from './static-files.ts';
import { acceptViewerSide, addressOf, NO_PAGE, STRICT_TRANSPORT, viewerSide } from './viewer-side.ts';

export interface AppDistributionProps {
  readonly apiId: string;
  /** Absent when streaming uploads are off: then the edge rejects multipart bodies over 4 MiB or without a length. */
  readonly streamingDomain: string | undefined;
  readonly resources: SharedResources;
  readonly stage: StageConfig;
  /** The operator's own web ACL, or our firewall's. */
  readonly webAclArn: string | undefined;
  readonly dashboard: DashboardFiles;
}

/**
 * The statuses that CloudFront caches for ten seconds by default, even where caching is disabled. The cache key is only the
 * path, so one account's 404 would answer another account's request. Source: CloudFront, "How CloudFront caches errors".
 */
const CACHED_ERRORS = [400, 403, 404, 405, 416, 500, 501, 503, 504];

/** Other sites must not embed these responses. (The header does not affect scripts that CORS allows.) */
const SAME_ORIGIN_RESOURCES = { header: 'Cross-Origin-Resource-Policy', value: 'same-origin', override: true };

/** The "app" distribution: API and dashboard on one origin, so that the API needs no CORS. */
export class AppDistribution extends Construct {
  readonly distribution: cloudfront.Distribution;

  constructor(scope: Construct, id: string, props: AppDistributionProps) {
    super(scope, id);
    const secret = SecretValue.secretsManager(props.resources.originSecret.in(this), {
      jsonField: props.stage.originSecretSlot,
    });
    const gatewayKey = new GatewayKey(this, 'GatewayKey', { apiId: props.apiId, value: secret });
    const customHeaders = { 'x-origin-secret': secret.unsafeUnwrap() };
    const address = () => addressOf(this.distribution, props.stage.appDomain);
    const { securityContact } = props.stage;
    // They name this distribution, so they are written when it exists.
    const texts: Readonly<Record<string, () => string>> = {
      [FOR_PROGRAMS_PATH]: () => forPrograms(Object.values(ROUTES), props.stage.limits, address()),
      ...(securityContact && {
        [SECURITY_TEXT_PATH]: () => securityText(securityContact, address(), new Date()),
      }),
    };
    const viewerRequest = new EdgeFunction(this, 'ViewerRequest', {
      file: 'app-viewer-request.js',
      constants: {
        MAX_UPLOAD_SIZE_BYTES: props.stage.limits.MAX_UPLOAD_SIZE_BYTES,
        INLINE_BODY_MAX_BYTES,
        MULTIPART_FRAMING_MAX_BYTES,
        STREAMING_UPLOADS: props.streamingDomain !== undefined,
        DASHBOARD_FILES: readdirSync(props.dashboard.pages).sort().join('|'),
        OPENAPI_PATH,
        TEXTS: Object.keys(texts).join('|'),
      },
    });
    const common = {
      viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      functionAssociations: [
        { function: viewerRequest.function, eventType: cloudfront.FunctionEventType.VIEWER_REQUEST },
      ],
    };
    const apiHeaders = new cloudfront.ResponseHeadersPolicy(this, 'ApiHeaders', {
      // The gateway and the functions behind it set only nosniff themselves. CloudFront's own answers and the error pages do not set even
      // nosniff.
      securityHeadersBehavior: {
        contentTypeOptions: { override: true },
        strictTransportSecurity: STRICT_TRANSPORT,
        contentSecurityPolicy: { contentSecurityPolicy: NO_PAGE, override: true },
      },
      customHeadersBehavior: { customHeaders: [SAME_ORIGIN_RESOURCES] },
    });
    const toApi = {
      ...common,
      allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
      cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
      originRequestPolicy: this.allButHost(),
      responseHeadersPolicy: apiHeaders,
      compress: false,
    };
    const site = new StaticFiles(this, 'Site', {
      Assets: {
        sources: [s3deploy.Source.asset(props.dashboard.assets)],
        prefix: 'assets',
        // The file names change with the content.
        cacheControl: s3deploy.CacheControl.fromString('public, max-age=31536000, immutable'),
        // A page that was loaded before an upgrade still finds its assets.
        keepsEarlierFiles: true,
      },
      Deployment: {
        sources: [s3deploy.Source.asset(props.dashboard.pages)],
        prefix: 'dashboard',
        // Browsers revalidate the page each time (usually a cheap 304), because it names the assets of its deployment.
        cacheControl: s3deploy.CacheControl.noCache(),
      },
    });
    const errors = new StaticFiles(this, 'Errors', {
      Deployment: {
        sources: errorBodies(['invalid_request', 'service_unavailable']),
        cacheControl: s3deploy.CacheControl.noStore(),
      },
    });
    const toErrors = {
      origin: origins.S3BucketOrigin.withOriginAccessControl(errors.bucket),
      cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
      viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      responseHeadersPolicy: apiHeaders,
    };
    const apiOrigin = new origins.HttpOrigin(`${props.apiId}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}`, {
      originId: 'api',
      originPath: `/${GATEWAY_STAGE}`,
      customHeaders: { ...customHeaders, 'x-api-key': gatewayKey.value },
      readTimeout: Duration.seconds(30),
    });
    this.distribution = new cloudfront.Distribution(this, 'Distribution', {
      comment: 'API and dashboard',
      errorResponses: [
        ...CACHED_ERRORS.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
        // CloudFront's own errors are HTML, and a crashed Web Function's answer is empty. An error page replaces every response with its
        // status, including the API's with their code and `X-Request-Id`. So only statuses that the API never uses get an error page; 400,
        // 403, 503 and 504 do not (decision 0012).
        ...errorResponses({ 502: 'service_unavailable' }, Duration.seconds(0)),
        URL_TOO_LONG,
      ],
      ...viewerSide(this, props, props.stage.appDomain),
      defaultBehavior: {
        ...toApi,
        origin: apiOrigin,
      },
      additionalBehaviors: {
        'dashboard*': {
          ...common,
          allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL, // the function answers 405 with our body
          origin: origins.S3BucketOrigin.withOriginAccessControl(site.bucket),
          cachePolicy: cloudfront.CachePolicy.CACHING_OPTIMIZED,
          responseHeadersPolicy: this.dashboardHeaders(props.resources),
        },
        // The OpenAPI document and the texts are static files: a request for them runs no function and is not counted.
        ...Object.fromEntries(
          [OPENAPI_PATH, ...Object.keys(texts)].map((path) => [
            path.slice(1),
            {
              ...common,
              allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL, // the function answers 405 with our body
              origin: origins.S3BucketOrigin.withOriginAccessControl(site.bucket),
              cachePolicy: cloudfront.CachePolicy.CACHING_OPTIMIZED,
              responseHeadersPolicy: apiHeaders,
            },
          ]),
        ),
        // A redirect would let a program send its key in clear at every call, and never notice.
        'api/*': {
          ...toApi,
          origin: apiOrigin,
          viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
        },
        // There is no wildcard, because S3 would answer with XML for other keys.
        'errors/invalid_request.json': toErrors,
        'errors/service_unavailable.json': toErrors,
        // CDK deploys an origin only when a behaviour uses it, so the streaming origin has a behaviour. The edge function selects the
        // origin by its id, and answers requests to the path of this behaviour with 404.
        ...(props.streamingDomain !== undefined && {
          'upload-stream-origin': {
            ...toApi,
            origin: new origins.HttpOrigin(props.streamingDomain, {
              originId: 'upload-stream',
              customHeaders,
              readTimeout: Duration.seconds(120),
            }),
          },
        }),
      },
    });
    site.add('Document', {
      sources: [
        s3deploy.Source.jsonData(
          basename(OPENAPI_PATH),
          openApiDocument(
            Object.values(ROUTES),
            props.stage.limits,
            props.stage.name === 'local' ? 'session' : undefined,
          ),
        ),
      ],
      prefix: dirname(OPENAPI_PATH).slice(1),
      cacheControl: s3deploy.CacheControl.fromString('public, max-age=300'),
    });
    site.add('Texts', {
      sources: Object.entries(texts).map(([path, text]) => s3deploy.Source.data(basename(path), text())),
      prefix: 'texts',
      cacheControl: s3deploy.CacheControl.fromString('public, max-age=300'),
      contentType: 'text/plain; charset=utf-8',
    });
    // A new key must exist before the distribution sends it.
    this.distribution.node.addDependency(gatewayKey);
    acceptViewerSide(this.distribution, {
      webAclArn: props.webAclArn,
      domain: props.stage.appDomain,
      unfiltered:
        'A web ACL is charged by the month, so a stage may have none; the rate limits of accounts and logins do not need it',
      unlogged:
        'A line of this log has the query string, which may contain the code of a login; a log without query strings is delivered to CloudWatch (decision 0029)',
    });
  }

  /**
   * Forwards all headers of the viewer except two. `Host` must be the origin's own; `Expect` makes a Web Function answer 417. The policy
   * cannot be an allow list, because CloudFront does not permit `Authorization` on an allow list.
   */
  private allButHost(): cloudfront.OriginRequestPolicy {
    return new cloudfront.OriginRequestPolicy(this, 'AllButHost', {
      headerBehavior: cloudfront.OriginRequestHeaderBehavior.denyList('Host', 'Expect'),
      queryStringBehavior: cloudfront.OriginRequestQueryStringBehavior.all(),
      cookieBehavior: cloudfront.OriginRequestCookieBehavior.all(),
    });
  }

  private dashboardHeaders({ uploads, cdnUrl }: SharedResources): cloudfront.ResponseHeadersPolicy {
    const bucket = s3.Bucket.fromBucketName(this, 'Uploads', uploads.in(this));
    return new cloudfront.ResponseHeadersPolicy(this, 'DashboardHeaders', {
      securityHeadersBehavior: {
        contentTypeOptions: { override: true },
        strictTransportSecurity: STRICT_TRANSPORT,
        referrerPolicy: { referrerPolicy: cloudfront.HeadersReferrerPolicy.SAME_ORIGIN, override: true },
        frameOptions: { frameOption: cloudfront.HeadersFrameOption.DENY, override: true },
        contentSecurityPolicy: {
          contentSecurityPolicy: [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            `img-src 'self' ${cdnUrl.in(this)}`,
            `connect-src 'self' https://${bucket.bucketRegionalDomainName}`,
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
          ].join('; '),
          override: true,
        },
      },
      customHeadersBehavior: {
        customHeaders: [
          {
            header: 'Permissions-Policy',
            value: 'camera=(), geolocation=(), microphone=(), payment=()',
            override: true,
          },
          // A site that opens the dashboard in a new window gets no reference to that window, and cannot navigate it later.
          { header: 'Cross-Origin-Opener-Policy', value: 'same-origin', override: true },
          SAME_ORIGIN_RESOURCES,
        ],
      },
    });
  }
}
