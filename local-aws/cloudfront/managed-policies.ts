import { type CachePolicy, NOTHING, type OriginRequestPolicy } from './policies.ts';

/** The policies AWS keeps, by id. Source: CloudFront Developer Guide, "Use managed cache policies", "… origin request policies". */
export const MANAGED_CACHE_POLICIES: Readonly<Record<string, CachePolicy>> = {
  // CachingDisabled
  '4135ea2d-6df8-44a3-9df3-4b5a84be39ad': {
    minTtlSeconds: 0,
    defaultTtlSeconds: 0,
    maxTtlSeconds: 0,
    headers: NOTHING,
    cookies: NOTHING,
    queryStrings: NOTHING,
    encodings: [],
  },
  // CachingOptimized
  '658327ea-f89d-4fab-a63d-7e88639e58f6': {
    minTtlSeconds: 1,
    defaultTtlSeconds: 86_400,
    maxTtlSeconds: 31_536_000,
    headers: NOTHING,
    cookies: NOTHING,
    queryStrings: NOTHING,
    encodings: ['br', 'gzip'],
  },
};

export const MANAGED_ORIGIN_REQUEST_POLICIES: Readonly<Record<string, OriginRequestPolicy>> = {
  // AllViewerExceptHostHeader; the CloudFront-* headers it adds on AWS are not made here.
  'b689b0a8-53d0-40ab-baf2-68738e2966ac': {
    headers: { behavior: 'allExcept', names: new Set(['host']) },
    cookies: { behavior: 'all', names: new Set() },
    queryStrings: { behavior: 'all', names: new Set() },
  },
};
