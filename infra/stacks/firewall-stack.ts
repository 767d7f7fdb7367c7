import { CfnOutput, Fn, Stack } from 'aws-cdk-lib';
import * as wafv2 from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { ERRORS } from '../../shared/errors.ts';
import { EDGE_REGION, servedFrom } from '../constructs/served-region.ts';

/** The period over which WAF counts. An address that sends nothing for this long is allowed again. */
const WINDOW_SECONDS = 300;

/** The headers of a rejection, which the edge function does not see. WAF itself sets the Content-Type. */
const HEADERS = {
  'retry-after': String(WINDOW_SECONDS),
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'strict-transport-security': 'max-age=63072000; includeSubDomains',
};

export interface FirewallStackProps {
  /** The number of requests that one address may send in five minutes. */
  readonly limit: number;
  /** The Region of the service. */
  readonly region: string | undefined;
}

/**
 * A web ACL that rejects an address with too many requests before our code runs, with the same error as our rate limiter.
 * The rate limiter counts each account exactly, and only requests with a valid credential; this one counts all requests of
 * an address, approximately. CloudFront takes web ACLs only from us-east-1 (decision 0007).
 */
export class FirewallStack extends Stack {
  /** The ARN of the web ACL, for a stack in any Region. */
  readonly webAclArn: string;

  constructor(scope: Construct, id: string, { limit, region }: FirewallStackProps) {
    super(scope, id, servedFrom(id, region));
    const code = 'rate_limit_exceeded';
    const webAcl = new wafv2.CfnWebACL(this, 'WebAcl', {
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      // The metrics of each stage have their own name.
      visibilityConfig: visibility(this.stackName),
      customResponseBodies: {
        [code]: { contentType: 'APPLICATION_JSON', content: JSON.stringify({ error: code }) },
      },
      rules: [
        {
          name: 'RequestsByAddress',
          priority: 0,
          statement: {
            rateBasedStatement: {
              limit,
              aggregateKeyType: 'IP',
              evaluationWindowSec: WINDOW_SECONDS,
            },
          },
          action: {
            block: {
              customResponse: {
                responseCode: ERRORS[code].status,
                customResponseBodyKey: code,
                responseHeaders: Object.entries(HEADERS).map(([name, value]) => ({ name, value })),
              },
            },
          },
          visibilityConfig: visibility('RequestsByAddress'),
        },
      ],
    });
    const output = new CfnOutput(this, 'WebAclArn', { value: webAcl.attrArn });
    this.webAclArn = Fn.getStackOutput(this.stackName, output.logicalId, EDGE_REGION);
  }
}

/** Turns metrics on and samples off: a sample shows requests with their credentials to everyone who can see the firewall. */
function visibility(metricName: string): wafv2.CfnWebACL.VisibilityConfigProperty {
  return { cloudWatchMetricsEnabled: true, metricName, sampledRequestsEnabled: false };
}
