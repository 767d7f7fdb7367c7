import { CfnOutput, Fn, Stack } from 'aws-cdk-lib';
import * as wafv2 from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { ERRORS } from '../../shared/errors.ts';
import { EDGE_REGION, servedFrom } from '../constructs/served-region.ts';

/** How far back WAF counts; a client that keeps away for as long is let through. */
const WINDOW_SECONDS = 300;

/** Of what WAF refuses the edge function sees nothing, so its headers are said here. WAF sets the type by the body's. */
const HEADERS = {
  'retry-after': String(WINDOW_SECONDS),
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'strict-transport-security': 'max-age=63072000; includeSubDomains',
};

export interface FirewallStackProps {
  /** Requests of an address in five minutes. */
  readonly limit: number;
  /** Of the service. */
  readonly region: string | undefined;
}

/**
 * A web ACL that refuses an address with too many requests before anything of ours runs, in the words of our own limiter.
 * That one counts accounts, exactly, and only requests with a valid credential; this one counts whatever comes, roughly.
 * CloudFront takes web ACLs from us-east-1 alone (decision 0007).
 */
export class FirewallStack extends Stack {
  /** Of the web ACL, for a stack of any Region. */
  readonly webAclArn: string;

  constructor(scope: Construct, id: string, { limit, region }: FirewallStackProps) {
    super(scope, id, servedFrom(id, region));
    const code = 'rate_limit_exceeded';
    const webAcl = new wafv2.CfnWebACL(this, 'WebAcl', {
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      // By which the metrics of one stage's firewall are told from another's.
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

/** Counted, and not sampled: a sample shows whole requests to whoever may look at the firewall, credentials included. */
function visibility(metricName: string): wafv2.CfnWebACL.VisibilityConfigProperty {
  return { cloudWatchMetricsEnabled: true, metricName, sampledRequestsEnabled: false };
}
