import { beforeAll, expect, test } from 'vitest';
import { type FirewallLimits, readStage } from '../../../infra/settings/stage.ts';
import { STAGES } from '../../../infra/stages/stages.ts';
import type { Template } from '../../../local-aws/service.ts';
import { distributionOf, resourcesOf, templatesOf } from '../../support/synthesize-stage.ts';

/** The firewall in front of both distributions. */

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
  templates = await templatesOf('prod', { region: 'eu-central-1', firewall: { requests: 3_000, downloads: 9_000 } });
  const found = resourcesOf(templates.Firewall, 'AWS::WAFv2::WebACL');
  expect(found).toHaveLength(1);
  webAcl = found[0]?.Properties as unknown as WebAcl;
});

test('both distributions use the firewall, and the data stack refers to no other stack', () => {
  const [logicalId] =
    Object.entries(templates.Firewall?.Resources ?? {}).find(([, { Type }]) => Type === 'AWS::WAFv2::WebACL') ?? [];
  expect(templates.Firewall?.Outputs?.WebAclArn?.Value).toEqual({ 'Fn::GetAtt': [logicalId, 'Arn'] });
  const reference = {
    'Fn::GetStackOutput': {
      StackName: 'FileHosting-prod-Firewall-eu-central-1',
      Region: 'us-east-1',
      OutputName: 'WebAclArn',
    },
  };
  for (const stack of ['Edge', 'Data']) expect(distributionOf(templates[stack]).WebACLId).toEqual(reference);
  expect(JSON.stringify(templates.Data).match(/"StackName":"[^"]*"/g)).toEqual([
    '"StackName":"FileHosting-prod-Firewall-eu-central-1"',
  ]);
});

test('the firewall rejects an address with too many requests or downloads in five minutes, and allows all others', () => {
  expect(webAcl).toMatchObject({ Scope: 'CLOUDFRONT', DefaultAction: { Allow: {} } });
  const download = {
    ByteMatchStatement: expect.objectContaining({ PositionalConstraint: 'STARTS_WITH', SearchString: '/uploads/' }),
  };
  const rate = (Limit: number, ScopeDownStatement: unknown) => ({
    RateBasedStatement: { AggregateKeyType: 'IP', EvaluationWindowSec: 300, Limit, ScopeDownStatement },
  });
  expect(webAcl.Rules.map(({ Statement }) => Statement)).toEqual([
    rate(3_000, { NotStatement: { Statement: download } }),
    rate(9_000, download),
  ]);
});

test('an account that uses all its limits at once sends less than half of the requests that the firewall of prod admits', () => {
  const { limits } = readStage('prod', STAGES.prod);
  const perMinute =
    limits.RATE_LIMIT_UPLOADS_PER_MINUTE + limits.RATE_LIMIT_LISTS_PER_MINUTE + limits.RATE_LIMIT_REQUESTS_PER_MINUTE;
  const { requests } = STAGES.prod.firewall as FirewallLimits;
  expect(requests).toBeGreaterThan(2 * 5 * perMinute);
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
