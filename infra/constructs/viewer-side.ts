import { Duration } from 'aws-cdk-lib';
import * as acm from 'aws-cdk-lib/aws-certificatemanager';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import type { Construct } from 'constructs';
import type { CustomDomain, StageConfig } from '../settings/stage.ts';
import { acceptFindings } from './accepted-finding.ts';

const PRICE_CLASSES = {
  all: cloudfront.PriceClass.PRICE_CLASS_ALL,
  200: cloudfront.PriceClass.PRICE_CLASS_200,
  100: cloudfront.PriceClass.PRICE_CLASS_100,
} as const;

/** HSTS for two years, on every response of an origin (the edge functions set it on their own responses). */
export const STRICT_TRANSPORT: cloudfront.ResponseHeadersStrictTransportSecurity = {
  accessControlMaxAge: Duration.days(730),
  includeSubdomains: true,
  override: true,
};

/** Of answers that are no pages: a browser that shows one loads nothing for it, and shows it in no frame. */
export const NO_PAGE = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'";

/** The settings that both distributions share: protocol versions, custom domain, web ACL, price class. There is no IPv6 (decision 0043). */
export function viewerSide(
  scope: Construct,
  { stage: { priceClass }, webAclArn }: { readonly stage: StageConfig; readonly webAclArn: string | undefined },
  domain: CustomDomain | undefined,
) {
  return {
    httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
    enableIpv6: false,
    priceClass: PRICE_CLASSES[priceClass],
    ...(webAclArn !== undefined && { webAclId: webAclArn }),
    // CloudFront allows a choice of TLS versions only with a custom domain.
    ...(domain && {
      domainNames: [domain.name],
      certificate: acm.Certificate.fromCertificateArn(scope, 'Certificate', domain.certificateArn),
      minimumProtocolVersion: cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
    }),
  };
}

export interface AcceptedViewerSide {
  readonly domain: CustomDomain | undefined;
  readonly webAclArn: string | undefined;
  /** The reason for having no web ACL. */
  readonly unfiltered: string;
  /** The reason for not using CloudFront's log to S3, the only kind of log that the rule accepts. */
  readonly unlogged: string;
}

/** Accepts the findings in a distribution with these settings. */
export function acceptViewerSide(distribution: cloudfront.Distribution, side: AcceptedViewerSide): void {
  acceptFindings(distribution, {
    CFR1: 'The service is for everyone who has an account or a link, in any country',
    ...(side.webAclArn === undefined && { CFR2: side.unfiltered }),
    CFR3: side.unlogged,
    ...(side.domain === undefined && {
      CFR4: 'Without a custom domain CloudFront allows no choice of TLS versions; with one it is at least TLS 1.2',
    }),
  });
}

/** The URL that viewers use. */
export function addressOf(distribution: cloudfront.Distribution, domain: CustomDomain | undefined): string {
  return `https://${domain?.name ?? distribution.distributionDomainName}`;
}
