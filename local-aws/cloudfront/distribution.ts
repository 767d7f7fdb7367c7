import type { Properties } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';
import { type CacheBehavior, readBehavior } from './cache-behaviors.ts';
import { type Origin, readOrigin } from './origins.ts';
import { asBoolean, asNumber, refuseUnlessEmpty } from './property-values.ts';
import type { DistributionResources } from './resources.ts';

export interface ErrorRule {
  readonly cachingMinTtlSeconds: number;
  readonly page?: { readonly path: string; readonly status: number };
}

export interface Distribution {
  readonly origins: ReadonlyMap<string, Origin>;
  /** In the order they are tried; the default behavior is last. */
  readonly behaviors: readonly CacheBehavior[];
  readonly errorRules: ReadonlyMap<number, ErrorRule>;
  readonly defaultRootObject: string;
}

/** Names, certificates, prices, log delivery and protocols towards viewers mean nothing on one machine. */
const MEANINGLESS_IN_DISTRIBUTION = [
  'Aliases',
  'Comment',
  'HttpVersion',
  'IPV6Enabled',
  'Logging',
  'PriceClass',
  'ViewerCertificate',
  'WebACLId',
];

/**
 * Reads a `DistributionConfig` as it stands in the template, its intrinsics resolved.
 * @throws Error naming a property that is not implemented here, or an id that nothing has.
 */
export function readDistribution(config: Properties, resources: DistributionResources): Distribution {
  return readProperties(
    'DistributionConfig',
    config,
    (take) => {
      if (!asBoolean(take('Enabled', true))) throw new Error('the distribution is disabled');
      refuseUnlessEmpty('Restrictions.GeoRestriction', geoRestriction(take('Restrictions', {})));
      refuseUnlessEmpty('OriginGroups', take<{ Items?: [] }>('OriginGroups', {}).Items ?? []);
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
        defaultRootObject: take<string>('DefaultRootObject', ''),
      };
    },
    MEANINGLESS_IN_DISTRIBUTION,
  );
}

function geoRestriction(restrictions: { GeoRestriction?: { RestrictionType?: string; Locations?: [] } }): string[] {
  const restriction = restrictions.GeoRestriction;
  return !restriction || restriction.RestrictionType === 'none' ? [] : [String(restriction.RestrictionType)];
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
