import type { Properties } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';
import { type FunctionRuntime, loadFunction } from './function-runtime.ts';
import {
  asBoolean,
  asNumber,
  type CachePolicy,
  MANAGED_CACHE_POLICIES,
  type OriginRequestPolicy,
  type ResponseHeadersPolicy,
  readCachePolicy,
  readOriginRequestPolicy,
  readResponseHeadersPolicy,
} from './policies.ts';

export interface Distribution {
  readonly origins: ReadonlyMap<string, Origin>;
  /** The behaviors in the order in which they are tried. The default one is last. */
  readonly behaviors: readonly CacheBehavior[];
  readonly errorRules: ReadonlyMap<number, ErrorRule>;
}

interface ErrorRule {
  readonly cachingMinTtlSeconds: number;
  readonly page?: { readonly path: string; readonly status: number };
}

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

export interface Origin {
  readonly id: string;
  readonly domainName: string;
  /** The path that is put before the path of every request: empty, or a text that begins with a slash. */
  readonly path: string;
  /** The headers that every request to the origin gets, with names in lower case. */
  readonly customHeaders: readonly (readonly [name: string, value: string])[];
  readonly readTimeoutSeconds: number;
  /** Whether requests are signed for S3, because the origin has an origin access control. */
  readonly isSigned: boolean;
}

/** The resources that a distribution refers to by id, name or ARN: their resolved properties in the template. */
export interface DistributionResources {
  /** The code of the functions, by their `FunctionARN`. */
  readonly functions: Readonly<Record<string, { readonly code: string }>>;
  readonly cachePolicies: Readonly<Record<string, Properties>>;
  readonly originRequestPolicies: Readonly<Record<string, Properties>>;
  readonly responseHeadersPolicies: Readonly<Record<string, Properties>>;
  readonly originAccessControls: Readonly<Record<string, Properties>>;
}

/** @throws Error naming the id when there is no resource with it. */
function find<T>(kind: string, id: string, all: Readonly<Record<string, T>>): T {
  const found = all[id];
  if (found === undefined) throw new Error(`the distribution refers to the ${kind} "${id}", which is not there`);
  return found;
}

/** Names, certificates, prices, the firewall and protocols towards viewers have no effect in the local AWS. */
const NO_EFFECT_IN_DISTRIBUTION = [
  'Aliases',
  'Comment',
  'HttpVersion',
  'IPV6Enabled',
  'PriceClass',
  'ViewerCertificate',
  'WebACLId',
];

/**
 * Reads a resolved `DistributionConfig`.
 * @throws Error naming a property that the local CloudFront does not implement, or an id that no resource has.
 */
export function readDistribution(config: Properties, resources: DistributionResources): Distribution {
  return readProperties(
    'DistributionConfig',
    config,
    (take) => {
      if (!asBoolean(take('Enabled', true))) throw new Error('the distribution is disabled');
      const origins = new Map(
        take<Properties[]>('Origins').map((origin) => {
          const read = readOrigin(origin, resources);
          return [read.id, read] as const;
        }),
      );
      const read = (behavior: Properties) => readBehavior(behavior, resources, origins);
      return {
        origins,
        behaviors: [
          ...take<Properties[]>('CacheBehaviors', []).map(read),
          read({ PathPattern: '*', ...take<Properties>('DefaultCacheBehavior') }),
        ],
        errorRules: new Map(take<Properties[]>('CustomErrorResponses', []).map(readErrorRule)),
      };
    },
    NO_EFFECT_IN_DISTRIBUTION,
  );
}

function readErrorRule(properties: Properties): [status: number, rule: ErrorRule] {
  return readProperties('CustomErrorResponses', properties, (take) => {
    const path = take<string>('ResponsePagePath', '');
    const status = asNumber(take('ResponseCode', 0));
    return [
      asNumber(take('ErrorCode')),
      { cachingMinTtlSeconds: asNumber(take('ErrorCachingMinTTL', 10)), ...(path && { page: { path, status } }) },
    ];
  });
}

/** @param properties  resolved, of one of `CacheBehaviors`, or of the default behavior with the path pattern `*`. */
function readBehavior(
  properties: Properties,
  resources: DistributionResources,
  origins: ReadonlyMap<string, Origin>,
): CacheBehavior {
  return readProperties(
    `cache behavior ${properties.PathPattern}`,
    properties,
    (take) => {
      const originId = take<string>('TargetOriginId');
      find('origin', originId, Object.fromEntries(origins));
      const originRequestPolicyId = take<string>('OriginRequestPolicyId', '');
      const responseHeadersPolicyId = take<string>('ResponseHeadersPolicyId', '');
      return {
        pathPattern: take<string>('PathPattern'),
        originId,
        allowedMethods: new Set(take<string[]>('AllowedMethods', ['GET', 'HEAD'])),
        cachePolicy: cachePolicy(take('CachePolicyId'), resources),
        ...(originRequestPolicyId && {
          originRequestPolicy: readOriginRequestPolicy(
            find('origin request policy', originRequestPolicyId, resources.originRequestPolicies),
          ),
        }),
        ...(responseHeadersPolicyId && {
          responseHeadersPolicy: readResponseHeadersPolicy(
            find('response headers policy', responseHeadersPolicyId, resources.responseHeadersPolicies),
          ),
        }),
        ...readFunctions(take('FunctionAssociations', []), resources),
        compress: asBoolean(take('Compress', false)),
      };
    },
    // Viewers of the local CloudFront use HTTP.
    ['ViewerProtocolPolicy'],
  );
}

function cachePolicy(id: string, resources: DistributionResources): CachePolicy {
  return MANAGED_CACHE_POLICIES[id] ?? readCachePolicy(find('cache policy', id, resources.cachePolicies));
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

/** Connections go to the local server that stands in for the domain name, by HTTP. */
const NO_EFFECT_IN_CUSTOM_ORIGIN = ['OriginProtocolPolicy', 'OriginSSLProtocols'];

/** @param properties  resolved, of one of `Origins`. */
function readOrigin(properties: Properties, resources: DistributionResources): Origin {
  return readProperties(`origin ${properties.Id}`, properties, (take) => {
    const customHeaders = take<{ HeaderName: string; HeaderValue: string }[]>('OriginCustomHeaders', []);
    const accessControlId = take<string>('OriginAccessControlId', '');
    if (accessControlId !== '') checkAccessControl(accessControlId, resources);
    return {
      id: take<string>('Id'),
      domainName: take<string>('DomainName'),
      path: take<string>('OriginPath', ''),
      customHeaders: customHeaders.map(
        ({ HeaderName, HeaderValue }) => [HeaderName.toLowerCase(), HeaderValue] as const,
      ),
      readTimeoutSeconds: readTimeout(take('CustomOriginConfig', {}), take('S3OriginConfig', {})),
      isSigned: accessControlId !== '',
    };
  });
}

function readTimeout(custom: Properties, s3: Properties): number {
  readProperties('S3OriginConfig', s3, (take) => {
    if (take('OriginAccessIdentity', '') !== '') throw new Error('OriginAccessIdentity: use an origin access control');
  });
  const read = (take: <V>(name: string, fallback?: V) => V) => asNumber(take('OriginReadTimeout', 30));
  return readProperties('CustomOriginConfig', custom, read, NO_EFFECT_IN_CUSTOM_ORIGIN);
}

/** @throws Error for an access control that does anything but sign every request for S3. */
function checkAccessControl(id: string, resources: DistributionResources): void {
  const config = find('origin access control', id, resources.originAccessControls).OriginAccessControlConfig;
  readProperties(
    'OriginAccessControlConfig',
    config as Properties,
    (take) => {
      const kind = `${take('SigningBehavior')} ${take('OriginAccessControlOriginType')} ${take('SigningProtocol')}`;
      if (kind !== 'always s3 sigv4') throw new Error(`the local CloudFront does not sign ${kind}`);
    },
    ['Name'],
  );
}
