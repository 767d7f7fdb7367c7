import { describe, expect, test } from 'vitest';
import { readDistribution } from '../../../local-aws/cloudfront/distribution.ts';
import type { Properties } from '../../../local-aws/template/deployment.ts';
import {
  API_ORIGIN_REQUEST_POLICY,
  CACHE_BEHAVIOR,
  MINUTE_CACHE_POLICY,
  ORIGIN,
  PASS_BEHAVIOR,
  RESOURCES,
} from './rig.ts';

const CONFIG = { Enabled: true, Origins: [ORIGIN], DefaultCacheBehavior: PASS_BEHAVIOR };

function read(config: Properties, resources: Partial<typeof RESOURCES> = {}) {
  return () => readDistribution({ ...CONFIG, ...config }, { ...RESOURCES, ...resources });
}

test('properties without effect in the local AWS may have any value', () => {
  const config = {
    Aliases: ['files.example.com'],
    Comment: 'x',
    HttpVersion: 'http2and3',
    IPV6Enabled: true,
    PriceClass: 'PriceClass_100',
    ViewerCertificate: { CloudFrontDefaultCertificate: true },
    WebACLId: 'arn',
  };
  expect(read(config)).not.toThrow();
});

test('numbers and booleans may be strings, as CloudFormation allows', () => {
  const errors = [{ ErrorCode: '404', ResponsePagePath: '/e.json', ResponseCode: '404', ErrorCachingMinTTL: '0' }];
  const distribution = read({ Enabled: 'true', CustomErrorResponses: errors })();
  expect(distribution.errorRules.get(404)).toEqual({ cachingMinTtlSeconds: 0, page: { path: '/e.json', status: 404 } });
});

describe('a distribution does not start, and the error names the property, when the template has', () => {
  const behavior = (extra: Properties) => ({ DefaultCacheBehavior: { ...PASS_BEHAVIOR, ...extra } });
  const origin = (extra: Properties) => ({ Origins: [{ ...ORIGIN, ...extra }] });
  test.each([
    ['a property of the distribution', { CacheTagConfig: { HeaderName: 'x' } }, 'CacheTagConfig'],
    ['a property of a behavior', behavior({ ForwardedValues: {} }), 'ForwardedValues'],
    ['a property of an origin', origin({ VpcOriginConfig: {} }), 'VpcOriginConfig'],
    ['a property of a custom origin', origin({ CustomOriginConfig: { OriginMtlsConfig: {} } }), 'OriginMtlsConfig'],
    [
      'an identity from before origin access control',
      origin({ S3OriginConfig: { OriginAccessIdentity: 'x' } }),
      'OriginAccessIdentity',
    ],
    ['a property of an error response', { CustomErrorResponses: [{ ErrorCode: 404, Retry: 1 }] }, 'Retry'],
    ['a disabled distribution', { Enabled: false }, 'disabled'],
    [
      'a function at another event than those of viewers',
      behavior({ FunctionAssociations: [{ EventType: 'origin-request', FunctionARN: 'f' }] }),
      'do not run at origin-request',
    ],
  ])('%s', (_name, config, message) => {
    expect(read(config, { functions: { f: { code: '' } } })).toThrow(message);
  });
});

describe('a distribution does not start, and the error names what is missing, without', () => {
  test.each([
    ['an origin', { DefaultCacheBehavior: { ...PASS_BEHAVIOR, TargetOriginId: 'gone' } }, 'the origin "gone"'],
    [
      'a cache policy',
      { DefaultCacheBehavior: { ...CACHE_BEHAVIOR, CachePolicyId: 'gone' } },
      'the cache policy "gone"',
    ],
    [
      'an origin request policy',
      { DefaultCacheBehavior: { ...PASS_BEHAVIOR, OriginRequestPolicyId: 'gone' } },
      'policy "gone"',
    ],
    [
      'a response headers policy',
      { DefaultCacheBehavior: { ...PASS_BEHAVIOR, ResponseHeadersPolicyId: 'gone' } },
      'policy "gone"',
    ],
    ['an origin access control', { Origins: [{ ...ORIGIN, OriginAccessControlId: 'gone' }] }, 'control "gone"'],
    ['a required property', { DefaultCacheBehavior: { TargetOriginId: 'origin' } }, 'has no CachePolicyId'],
  ])('%s', (_name, config, message) => {
    expect(read(config)).toThrow(message);
  });
});

describe('a distribution does not start with a policy that has', () => {
  const cachePolicy = (extra: Properties) => ({
    minute: { CachePolicyConfig: { ...MINUTE_CACHE_POLICY.CachePolicyConfig, ...extra } },
  });
  const originPolicy = (HeaderBehavior: string) => {
    const config = { ...API_ORIGIN_REQUEST_POLICY.OriginRequestPolicyConfig, HeadersConfig: { HeaderBehavior } };
    return { api: { OriginRequestPolicyConfig: config } };
  };
  const cached = { DefaultCacheBehavior: CACHE_BEHAVIOR };
  const headersPolicy = (config: Properties) => ({
    config: { DefaultCacheBehavior: { ...PASS_BEHAVIOR, ResponseHeadersPolicyId: 'headers' } },
    resources: { responseHeadersPolicies: { headers: { ResponseHeadersPolicyConfig: config } } },
  });
  test.each([
    [
      'an unknown property of a cache policy',
      { config: cached, resources: { cachePolicies: cachePolicy({ StaleTTL: 1 }) } },
      'StaleTTL',
    ],
    [
      'a cache key with more than path and encodings',
      {
        config: cached,
        resources: {
          cachePolicies: cachePolicy({
            ParametersInCacheKeyAndForwardedToOrigin: {
              ...MINUTE_CACHE_POLICY.CachePolicyConfig.ParametersInCacheKeyAndForwardedToOrigin,
              QueryStringsConfig: { QueryStringBehavior: 'all' },
            },
          }),
        },
      },
      'QueryStringBehavior',
    ],
    [
      'an unknown header behavior',
      { config: {}, resources: { originRequestPolicies: originPolicy('allViewerAndWhitelistCloudFront') } },
      'allViewerAndWhitelistCloudFront',
    ],
    ['CORS', headersPolicy({ Name: 'x', CorsConfig: {} }), 'CorsConfig'],
    [
      'an unknown security header',
      headersPolicy({ Name: 'x', SecurityHeadersConfig: { XSSProtection: {} } }),
      'XSSProtection',
    ],
  ])('%s', (_name, { config, resources }, message) => {
    expect(read(config, resources)).toThrow(message);
  });
});
