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

/** What both distributions show their viewers alike: protocol versions, a name of the operator's own, web ACL, regions. */
export function viewerSide(
  scope: Construct,
  { priceClass, webAclArn }: Pick<StageConfig, 'priceClass' | 'webAclArn'>,
  domain: CustomDomain | undefined,
) {
  return {
    httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
    priceClass: PRICE_CLASSES[priceClass],
    ...(webAclArn !== undefined && { webAclId: webAclArn }),
    // Under its own name CloudFront takes no choice of TLS versions.
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
  /** Why there need not be a web ACL. */
  readonly unfiltered: string;
  /** Why CloudFront writes no log of requests. */
  readonly unlogged: string;
}

/** Accepts what the rules find in a distribution that shows its viewers this. */
export function acceptViewerSide(distribution: cloudfront.Distribution, side: AcceptedViewerSide): void {
  acceptFindings(distribution, {
    CFR1: 'The service is for whoever has an account or a link, in whatever country they are',
    ...(side.webAclArn === undefined && { CFR2: side.unfiltered }),
    CFR3: side.unlogged,
    ...(side.domain === undefined && {
      CFR4: 'Under its own name CloudFront takes no choice of TLS versions; with a domain it is TLS 1.2 at least',
    }),
  });
}

/** The address that viewers use. */
export function addressOf(distribution: cloudfront.Distribution, domain: CustomDomain | undefined): string {
  return `https://${domain?.name ?? distribution.distributionDomainName}`;
}
