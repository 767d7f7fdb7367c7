import { Duration } from 'aws-cdk-lib';
import type { ResponseHeadersStrictTransportSecurity } from 'aws-cdk-lib/aws-cloudfront';

/** HSTS for two years, on every answer that an origin gives (the edge functions set it on their own). */
export const STRICT_TRANSPORT: ResponseHeadersStrictTransportSecurity = {
  accessControlMaxAge: Duration.days(730),
  includeSubdomains: true,
  override: true,
};
