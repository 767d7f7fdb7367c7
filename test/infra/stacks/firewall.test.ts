import { beforeAll, expect, test } from 'vitest';
import type { Template } from '../../../local-aws/service.ts';
import { distributionOf, resourcesOf, templatesOf } from '../../support/synthesize-stage.ts';

/** The firewall that an operator can add by context. */

interface WebAcl {
  readonly Scope: string;
  readonly DefaultAction: unknown;
  readonly CustomResponseBodies: Record<string, { readonly ContentType: string; readonly Content: string }>;
  readonly VisibilityConfig: Visibility;
  readonly Rules: readonly Rule[];
}

interface Visibility {
  readonly MetricName: string;
}

interface Rule {
  readonly Statement: unknown;
  readonly VisibilityConfig: Visibility;
  readonly Action: { readonly Block: { readonly CustomResponse: CustomResponse } };
}

interface CustomResponse {
  readonly CustomResponseBodyKey: string;
  readonly ResponseCode: number;
  readonly ResponseHeaders: readonly { readonly Name: string; readonly Value: string }[];
}

let templates: Record<string, Template>;
let webAcl: WebAcl;
beforeAll(async () => {
  templates = await templatesOf({ firewallRequestsPerFiveMinutes: '3000' }, { CDK_DEFAULT_REGION: 'eu-central-1' });
  const found = resourcesOf(templates.Firewall, 'AWS::WAFv2::WebACL');
  expect(found).toHaveLength(1);
  webAcl = found[0]?.Properties as unknown as WebAcl;
});

test('the firewall is only on the app distribution, and the data stack does not refer to it', () => {
  const [logicalId] =
    Object.entries(templates.Firewall?.Resources ?? {}).find(([, { Type }]) => Type === 'AWS::WAFv2::WebACL') ?? [];
  expect(templates.Firewall?.Outputs?.WebAclArn?.Value).toEqual({ 'Fn::GetAtt': [logicalId, 'Arn'] });
  expect(distributionOf(templates.Edge).WebACLId).toEqual({
    'Fn::GetStackOutput': {
      StackName: 'FileHosting-prod-Firewall-eu-central-1',
      Region: 'us-east-1',
      OutputName: 'WebAclArn',
    },
  });
  expect(distributionOf(templates.Data)).not.toHaveProperty('WebACLId');
  expect(JSON.stringify(templates.Data)).not.toContain('Firewall');
});

test('the firewall rejects an address with too many requests in five minutes, and allows all others', () => {
  expect(webAcl).toMatchObject({ Scope: 'CLOUDFRONT', DefaultAction: { Allow: {} } });
  expect(webAcl.Rules.map(({ Statement }) => Statement)).toEqual([
    { RateBasedStatement: { AggregateKeyType: 'IP', EvaluationWindowSec: 300, Limit: 3_000 } },
  ]);
});

test('the firewall answers with the same error as the rate limiter', () => {
  for (const { Action } of webAcl.Rules) {
    const { CustomResponseBodyKey, ResponseCode, ResponseHeaders } = Action.Block.CustomResponse;
    expect(ResponseCode).toBe(429);
    expect(webAcl.CustomResponseBodies[CustomResponseBodyKey]).toEqual({
      ContentType: 'APPLICATION_JSON',
      Content: '{"error":"rate_limit_exceeded"}',
    });
    const headers = Object.fromEntries(ResponseHeaders.map(({ Name, Value }) => [Name, Value]));
    expect(headers).toMatchObject({ 'retry-after': '300', 'cache-control': 'no-store' });
  }
});

test('the firewall has metrics with unique names, and keeps no samples of requests', () => {
  const configs = [webAcl, ...webAcl.Rules].map(({ VisibilityConfig }) => VisibilityConfig);
  expect(new Set(configs.map(({ MetricName }) => MetricName)).size).toBe(configs.length);
  expect(webAcl.VisibilityConfig.MetricName).toContain('prod');
  for (const config of configs) {
    expect(config).toMatchObject({ CloudWatchMetricsEnabled: true, SampledRequestsEnabled: false });
  }
});
