import { CfnOutput, Fn, Stack } from 'aws-cdk-lib';
import * as wafv2 from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { ERRORS } from '../../shared/contract/errors.ts';
import { EDGE_REGION, servedFrom } from '../constructs/served-region.ts';
import type { FirewallLimits, StageConfig } from '../settings/stage.ts';

/** The period over which WAF counts. An address that sends nothing for this long is allowed again. */
const WINDOW_SECONDS = 300;

/**
 * The headers of a rejection. The edge function does not see rejected requests, so WAF adds these headers. WAF itself sets the
 * Content-Type.
 */
const HEADERS = {
  'retry-after': String(WINDOW_SECONDS),
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'strict-transport-security': 'max-age=63072000; includeSubDomains',
};

const CODE = 'rate_limit_exceeded';

/** Matches requests to links. Other paths are those of API and dashboard. */
const IS_DOWNLOAD: wafv2.CfnWebACL.StatementProperty = {
  byteMatchStatement: {
    fieldToMatch: { uriPath: {} },
    positionalConstraint: 'STARTS_WITH',
    searchString: '/uploads/',
    textTransformations: [{ priority: 0, type: 'NONE' }],
  },
};

export interface FirewallStackProps {
  readonly limits: FirewallLimits;
  /** Region and account of the service. */
  readonly place: StageConfig['place'];
}

/** A web ACL for both distributions. */
export interface WebAcl {
  readonly arn: string;
  /** The stack that makes the web ACL; absent for a web ACL of the operator. */
  readonly stack?: Stack;
}

/**
 * A web ACL that rejects the requests of an address that sends too many, before our code runs. The error is the same as that of our rate
 * limiter. The rate limiter counts exactly: requests with a valid credential by account, and those of a login by address. The web ACL
 * counts all requests of an address, approximately. Downloads are counted apart, because a page of the dashboard shows many pictures.
 * CloudFront takes web ACLs only from us-east-1 (decision 0044). The stack has no state.
 */
export class FirewallStack extends Stack {
  /** The ARN of the web ACL, for a stack in any Region. */
  readonly webAclArn: string;

  constructor(scope: Construct, id: string, { limits, place }: FirewallStackProps) {
    super(scope, id, servedFrom(id, place));
    const webAcl = new wafv2.CfnWebACL(this, 'WebAcl', {
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      // The metrics of each stage have their own name.
      visibilityConfig: visibility(this.stackName),
      customResponseBodies: {
        [CODE]: { contentType: 'APPLICATION_JSON', content: JSON.stringify({ error: CODE }) },
      },
      rules: [
        rateRule('RequestsByAddress', 0, limits.requests, { notStatement: { statement: IS_DOWNLOAD } }),
        rateRule('DownloadsByAddress', 1, limits.downloads, IS_DOWNLOAD),
      ],
    });
    const output = new CfnOutput(this, 'WebAclArn', { value: webAcl.attrArn });
    this.webAclArn = Fn.getStackOutput(this.stackName, output.logicalId, EDGE_REGION);
  }
}

/** Counts the requests of each address that match `counted`, and rejects them while there are more than `limit`. */
function rateRule(
  name: string,
  priority: number,
  limit: number,
  counted: wafv2.CfnWebACL.StatementProperty,
): wafv2.CfnWebACL.RuleProperty {
  return {
    name,
    priority,
    statement: {
      rateBasedStatement: {
        limit,
        aggregateKeyType: 'IP',
        evaluationWindowSec: WINDOW_SECONDS,
        scopeDownStatement: counted,
      },
    },
    action: {
      block: {
        customResponse: {
          responseCode: ERRORS[CODE].status,
          customResponseBodyKey: CODE,
          responseHeaders: Object.entries(HEADERS).map(([header, value]) => ({ name: header, value })),
        },
      },
    },
    visibilityConfig: visibility(name),
  };
}

/** Turns metrics on and samples off: a sample shows requests with their credentials to everyone who can see the firewall. */
function visibility(metricName: string): wafv2.CfnWebACL.VisibilityConfigProperty {
  return { cloudWatchMetricsEnabled: true, metricName, sampledRequestsEnabled: false };
}
