import type { Properties } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';
import { asNumber } from './property-values.ts';
import { type DistributionResources, find } from './resources.ts';

export interface Origin {
  readonly id: string;
  readonly domainName: string;
  /** '' or starting with a slash. */
  readonly path: string;
  /** Names in lower case. */
  readonly customHeaders: readonly (readonly [name: string, value: string])[];
  readonly readTimeoutSeconds: number;
  /** How requests are signed for S3; absent without an origin access control. */
  readonly signing?: 'always' | 'no-override';
}

/** How to connect is a matter of the address that stands in for the domain name. */
const MEANINGLESS_IN_ORIGIN = ['ConnectionAttempts', 'ConnectionTimeout', 'OriginShield'];
const MEANINGLESS_IN_CUSTOM_ORIGIN = [
  'HTTPPort',
  'HTTPSPort',
  'OriginProtocolPolicy',
  'OriginSSLProtocols',
  'OriginKeepaliveTimeout',
  'IpAddressType',
];

/** @param properties  one of `Origins`, resolved. */
export function readOrigin(properties: Properties, resources: DistributionResources): Origin {
  return readProperties(
    `origin ${properties.Id}`,
    properties,
    (take) => {
      const customHeaders = take<{ HeaderName: string; HeaderValue: string }[]>('OriginCustomHeaders', []);
      const signing = readSigning(take('OriginAccessControlId', ''), resources);
      return {
        id: take<string>('Id'),
        domainName: take<string>('DomainName'),
        path: take<string>('OriginPath', ''),
        customHeaders: customHeaders.map(
          ({ HeaderName, HeaderValue }) => [HeaderName.toLowerCase(), HeaderValue] as const,
        ),
        readTimeoutSeconds: readTimeout(take('CustomOriginConfig', {}), take('S3OriginConfig', {})),
        ...(signing && { signing }),
      };
    },
    MEANINGLESS_IN_ORIGIN,
  );
}

function readTimeout(custom: Properties, s3: Properties): number {
  readProperties('S3OriginConfig', s3, (take) => {
    if (take('OriginAccessIdentity', '') !== '') throw new Error('OriginAccessIdentity: use an origin access control');
    take('OriginReadTimeout', 30);
  });
  const read = (take: <V>(name: string, fallback?: V) => V) => asNumber(take('OriginReadTimeout', 30));
  return readProperties('CustomOriginConfig', custom, read, MEANINGLESS_IN_CUSTOM_ORIGIN);
}

function readSigning(id: string, resources: DistributionResources): 'always' | 'no-override' | undefined {
  if (id === '') return undefined;
  const config = find('origin access control', id, resources.originAccessControls).OriginAccessControlConfig;
  return readProperties(
    'OriginAccessControlConfig',
    config as Properties,
    (take) => {
      const kind = `${take('OriginAccessControlOriginType')} ${take('SigningProtocol')}`;
      if (kind !== 's3 sigv4') throw new Error(`the local CloudFront does not sign ${kind}`);
      const behavior = take<'always' | 'no-override' | 'never'>('SigningBehavior');
      return behavior === 'never' ? undefined : behavior;
    },
    ['Name', 'Description'],
  );
}
