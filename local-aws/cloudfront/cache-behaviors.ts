import type { Properties } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';
import { type FunctionRuntime, loadFunction } from './function-runtime.ts';
import { MANAGED_CACHE_POLICIES, MANAGED_ORIGIN_REQUEST_POLICIES } from './managed-policies.ts';
import type { Origin } from './origins.ts';
import {
  type CachePolicy,
  type OriginRequestPolicy,
  type ResponseHeadersPolicy,
  readCachePolicy,
  readOriginRequestPolicy,
  readResponseHeadersPolicy,
} from './policies.ts';
import { asBoolean, refuseUnlessEmpty } from './property-values.ts';
import { type DistributionResources, find } from './resources.ts';

export interface CacheBehavior {
  /** `*` for the default behavior. */
  readonly pathPattern: string;
  readonly originId: string;
  readonly allowedMethods: ReadonlySet<string>;
  readonly cachePolicy: CachePolicy;
  readonly originRequestPolicy?: OriginRequestPolicy;
  readonly responseHeadersPolicy?: ResponseHeadersPolicy;
  readonly viewerRequest?: FunctionRuntime;
  readonly viewerResponse?: FunctionRuntime;
  readonly compress: boolean;
}

/** The protocol towards viewers, and where logs go. */
const MEANINGLESS_IN_BEHAVIOR = ['ViewerProtocolPolicy', 'RealtimeLogConfigArn'];

/** @param properties  one of `CacheBehaviors`, or the default one with the path pattern `*`, resolved. */
export function readBehavior(
  properties: Properties,
  resources: DistributionResources,
  origins: ReadonlyMap<string, Origin>,
): CacheBehavior {
  return readProperties(
    `cache behavior ${properties.PathPattern}`,
    properties,
    (take) => {
      // It tells whether OPTIONS answers are cached, and none is here.
      refuseUnlessEmpty(
        'CachedMethods',
        take<string[]>('CachedMethods', []).filter((method) => method === 'OPTIONS'),
      );
      if (asBoolean(take('SmoothStreaming', false))) throw new Error('the local CloudFront has no SmoothStreaming');
      const originId = take<string>('TargetOriginId');
      find('origin', originId, Object.fromEntries(origins));
      const originRequestPolicyId = take<string>('OriginRequestPolicyId', '');
      const responseHeadersPolicyId = take<string>('ResponseHeadersPolicyId', '');
      return {
        pathPattern: take<string>('PathPattern'),
        originId,
        allowedMethods: new Set(take<string[]>('AllowedMethods', ['GET', 'HEAD'])),
        cachePolicy: cachePolicy(take('CachePolicyId'), resources),
        ...(originRequestPolicyId && { originRequestPolicy: originRequestPolicy(originRequestPolicyId, resources) }),
        ...(responseHeadersPolicyId && {
          responseHeadersPolicy: readResponseHeadersPolicy(
            find('response headers policy', responseHeadersPolicyId, resources.responseHeadersPolicies),
          ),
        }),
        ...readFunctions(take('FunctionAssociations', []), resources),
        compress: asBoolean(take('Compress', false)),
      };
    },
    MEANINGLESS_IN_BEHAVIOR,
  );
}

function cachePolicy(id: string, resources: DistributionResources): CachePolicy {
  return MANAGED_CACHE_POLICIES[id] ?? readCachePolicy(find('cache policy', id, resources.cachePolicies));
}

function originRequestPolicy(id: string, resources: DistributionResources): OriginRequestPolicy {
  const managed = MANAGED_ORIGIN_REQUEST_POLICIES[id];
  return managed ?? readOriginRequestPolicy(find('origin request policy', id, resources.originRequestPolicies));
}

function readFunctions(
  associations: readonly { EventType: string; FunctionARN: string }[],
  resources: DistributionResources,
): { viewerRequest?: FunctionRuntime; viewerResponse?: FunctionRuntime } {
  const functions: { viewerRequest?: FunctionRuntime; viewerResponse?: FunctionRuntime } = {};
  for (const { EventType, FunctionARN } of associations) {
    const loaded = loadFunction(find('function', FunctionARN, resources.functions).code);
    if (EventType === 'viewer-request') functions.viewerRequest = loaded;
    else if (EventType === 'viewer-response') functions.viewerResponse = loaded;
    else throw new Error(`CloudFront Functions do not run at ${EventType}`);
  }
  return functions;
}
