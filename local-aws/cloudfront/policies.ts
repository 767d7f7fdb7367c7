import type { Properties } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';

/** The headers, cookies or query parameters that a policy selects. */
export interface Selection {
  readonly behavior: 'none' | 'whitelist' | 'allExcept' | 'all';
  /** The selected names; with `allExcept`, those that are not selected. Names of headers are in lower case, others as written. */
  readonly names: ReadonlySet<string>;
}

export interface CachePolicy {
  readonly minTtlSeconds: number;
  readonly defaultTtlSeconds: number;
  readonly maxTtlSeconds: number;
  readonly headers: Selection;
  readonly cookies: Selection;
  readonly queryStrings: Selection;
  /** The encodings to which CloudFront may compress; each is cached separately. */
  readonly encodings: readonly ('br' | 'gzip')[];
}

export interface OriginRequestPolicy {
  readonly headers: Selection;
  readonly cookies: Selection;
  readonly queryStrings: Selection;
}

export interface ResponseHeadersPolicy {
  readonly set: readonly { readonly name: string; readonly value: string; readonly override: boolean }[];
  readonly remove: readonly string[];
}

const NOTHING: Selection = { behavior: 'none', names: new Set() };

/** Cache policies that AWS manages, by id. Source: CloudFront Developer Guide, "Use managed cache policies", "… origin request policies". */
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
  // AllViewerExceptHostHeader. The CloudFront-* headers that it adds on AWS are not added here.
  'b689b0a8-53d0-40ab-baf2-68738e2966ac': {
    headers: { behavior: 'allExcept', names: new Set(['host']) },
    cookies: { behavior: 'all', names: new Set() },
    queryStrings: { behavior: 'all', names: new Set() },
  },
};

/** @param properties  resolved, of an `AWS::CloudFront::CachePolicy`. */
export function readCachePolicy(properties: Properties): CachePolicy {
  const config = properties.CachePolicyConfig as Properties;
  return readProperties(
    'CachePolicyConfig',
    config,
    (take) => {
      const parameters = take<Properties>('ParametersInCacheKeyAndForwardedToOrigin');
      const ttl = {
        minTtlSeconds: asNumber(take('MinTTL', 0)),
        defaultTtlSeconds: asNumber(take('DefaultTTL', 86_400)),
        maxTtlSeconds: asNumber(take('MaxTTL', 31_536_000)),
      };
      return { ...ttl, ...readCacheKeyParameters(parameters) };
    },
    ['Name', 'Comment'],
  );
}

function readCacheKeyParameters(parameters: Properties) {
  return readProperties('ParametersInCacheKeyAndForwardedToOrigin', parameters, (take) => {
    const brotli = asBoolean(take('EnableAcceptEncodingBrotli', false));
    const gzip = asBoolean(take('EnableAcceptEncodingGzip', false));
    const encodings = [...(brotli ? ['br' as const] : []), ...(gzip ? ['gzip' as const] : [])];
    return { ...readSelections(take), encodings };
  });
}

/** @param properties  resolved, of an `AWS::CloudFront::OriginRequestPolicy`. */
export function readOriginRequestPolicy(properties: Properties): OriginRequestPolicy {
  const config = properties.OriginRequestPolicyConfig as Properties;
  return readProperties('OriginRequestPolicyConfig', config, (take) => readSelections(take), ['Name', 'Comment']);
}

function readSelections(take: <V>(name: string, fallback?: V) => V) {
  return {
    headers: readSelection('Header', 'Headers', take('HeadersConfig', {}), (name) => name.toLowerCase()),
    cookies: readSelection('Cookie', 'Cookies', take('CookiesConfig', {})),
    queryStrings: readSelection('QueryString', 'QueryStrings', take('QueryStringsConfig', {})),
  };
}

function readSelection(kind: string, list: string, config: Properties, spell = (name: string) => name): Selection {
  return readProperties(`${list}Config`, config, (take) => {
    const behavior = take<string>(`${kind}Behavior`, 'none');
    const names = new Set(take<string[]>(list, []).map(spell));
    if (behavior === 'allViewer') return { behavior: 'all', names };
    if (behavior === 'none' || behavior === 'whitelist' || behavior === 'allExcept' || behavior === 'all') {
      return { behavior, names };
    }
    throw new Error(`${kind}Behavior: the local CloudFront does not implement ${behavior}`);
  });
}

/** @param properties  resolved, of an `AWS::CloudFront::ResponseHeadersPolicy`. */
export function readResponseHeadersPolicy(properties: Properties): ResponseHeadersPolicy {
  const config = properties.ResponseHeadersPolicyConfig as Properties;
  return readProperties(
    'ResponseHeadersPolicyConfig',
    config,
    (take) => {
      const custom = take<{ Items?: Properties[] }>('CustomHeadersConfig', {}).Items ?? [];
      const removed = take<{ Items?: { Header: string }[] }>('RemoveHeadersConfig', {}).Items ?? [];
      return {
        set: [...readSecurityHeaders(take('SecurityHeadersConfig', {})), ...custom.map(readCustomHeader)],
        remove: removed.map((item) => item.Header.toLowerCase()),
      };
    },
    ['Name', 'Comment'],
  );
}

function readCustomHeader(item: Properties) {
  return readProperties('CustomHeadersConfig', item, (take) => ({
    name: take<string>('Header').toLowerCase(),
    value: take<string>('Value'),
    override: asBoolean(take('Override')),
  }));
}

type SecurityHeader = Properties & { readonly Override: boolean | string };

function readSecurityHeaders(config: Properties) {
  const set: { name: string; value: string; override: boolean }[] = [];
  readProperties('SecurityHeadersConfig', config, (take) => {
    const add = (property: string, name: string, value: (header: SecurityHeader) => string) => {
      const header = take<SecurityHeader | null>(property, null);
      if (header) set.push({ name, value: value(header), override: asBoolean(header.Override) });
    };
    add('ContentTypeOptions', 'x-content-type-options', () => 'nosniff');
    add('ContentSecurityPolicy', 'content-security-policy', (header) => String(header.ContentSecurityPolicy));
    add('FrameOptions', 'x-frame-options', (header) => String(header.FrameOption));
    add('ReferrerPolicy', 'referrer-policy', (header) => String(header.ReferrerPolicy));
    add('StrictTransportSecurity', 'strict-transport-security', strictTransportSecurity);
  });
  return set;
}

function strictTransportSecurity(header: SecurityHeader): string {
  const subdomains = asBoolean((header.IncludeSubdomains ?? false) as boolean) ? '; includeSubDomains' : '';
  const preload = asBoolean((header.Preload ?? false) as boolean) ? '; preload' : '';
  return `max-age=${header.AccessControlMaxAgeSec}${subdomains}${preload}`;
}

/** CloudFormation also writes numbers as strings. */
export function asNumber(value: number | string): number {
  const number = Number(value);
  if (!Number.isFinite(number)) throw new Error(`"${value}" is not a number`);
  return number;
}

/** CloudFormation also writes booleans as strings. */
export function asBoolean(value: boolean | string): boolean {
  return value === true || value === 'true';
}

/** Refuses a list that must be empty, because the local CloudFront implements none of its values. */
export function refuseUnlessEmpty(where: string, values: readonly unknown[]): void {
  if (values.length > 0) throw new Error(`${where}: the local CloudFront does not implement ${JSON.stringify(values)}`);
}
