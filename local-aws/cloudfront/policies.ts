import type { Properties } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';

/** How long answers are cached, by path and encoding alone. */
export interface CachePolicy {
  readonly minTtlSeconds: number;
  readonly defaultTtlSeconds: number;
  readonly maxTtlSeconds: number;
  /** The encodings to which CloudFront may compress; each is cached separately. */
  readonly encodings: readonly ('br' | 'gzip')[];
}

/** Forwards the query, the cookies, and all headers but some. */
export interface OriginRequestPolicy {
  /** The headers that are not forwarded, in lower case. */
  readonly withheld: ReadonlySet<string>;
}

export interface ResponseHeadersPolicy {
  readonly set: readonly { readonly name: string; readonly value: string; readonly override: boolean }[];
  readonly remove: readonly string[];
  /** The headers of answers to requests with an `Origin`. */
  readonly cors: readonly { readonly name: string; readonly value: string; readonly override: boolean }[];
}

/** Cache policies that AWS manages, by id. Source: CloudFront Developer Guide, "Use managed cache policies". */
export const MANAGED_CACHE_POLICIES: Readonly<Record<string, CachePolicy>> = {
  // CachingDisabled
  '4135ea2d-6df8-44a3-9df3-4b5a84be39ad': {
    minTtlSeconds: 0,
    defaultTtlSeconds: 0,
    maxTtlSeconds: 0,
    encodings: [],
  },
  // CachingOptimized
  '658327ea-f89d-4fab-a63d-7e88639e58f6': {
    minTtlSeconds: 1,
    defaultTtlSeconds: 86_400,
    maxTtlSeconds: 31_536_000,
    encodings: ['br', 'gzip'],
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
    readSelection('Header', 'none', take('HeadersConfig'));
    readSelection('Cookie', 'none', take('CookiesConfig'));
    readSelection('QueryString', 'none', take('QueryStringsConfig'));
    return { encodings };
  });
}

/** @param properties  resolved, of an `AWS::CloudFront::OriginRequestPolicy`. */
export function readOriginRequestPolicy(properties: Properties): OriginRequestPolicy {
  const config = properties.OriginRequestPolicyConfig as Properties;
  return readProperties(
    'OriginRequestPolicyConfig',
    config,
    (take) => {
      readSelection('Cookie', 'all', take('CookiesConfig'));
      readSelection('QueryString', 'all', take('QueryStringsConfig'));
      const names = readSelection('Header', 'allExcept', take('HeadersConfig'));
      return { withheld: new Set(names.map((name) => name.toLowerCase())) };
    },
    ['Name', 'Comment'],
  );
}

/**
 * Reads which headers, cookies or query parameters a policy selects.
 * @returns the listed names. @throws Error for another behavior than the only one that the local CloudFront implements there.
 */
function readSelection(kind: string, implemented: string, config: Properties): readonly string[] {
  return readProperties(`${kind}sConfig`, config, (take) => {
    const behavior = take<string>(`${kind}Behavior`);
    if (behavior !== implemented) {
      throw new Error(`${kind}Behavior: the local CloudFront does not implement ${behavior}`);
    }
    return take<string[]>(`${kind}s`, []);
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
        cors: readCors(take('CorsConfig', null)),
      };
    },
    ['Name', 'Comment'],
  );
}

/**
 * Reads the CORS headers of answers that are not to preflights: the methods and headers that it allows are for preflights, which are
 * not implemented. Source: CloudFront Developer Guide, "CORS headers".
 * @throws Error for a configuration that depends on the origin of the request.
 */
function readCors(config: Properties | null) {
  if (!config) return [];
  return readProperties(
    'CorsConfig',
    config,
    (take) => {
      const items = (property: string) => take<{ Items: string[] }>(property, { Items: [] }).Items;
      const override = asBoolean(take('OriginOverride'));
      const origins = items('AccessControlAllowOrigins');
      if (origins.join() !== '*' || asBoolean(take('AccessControlAllowCredentials'))) {
        throw new Error('CorsConfig: the local CloudFront allows every origin without credentials, or none');
      }
      const exposed = items('AccessControlExposeHeaders').join(', ');
      return [
        { name: 'access-control-allow-origin', value: '*', override },
        ...(exposed ? [{ name: 'access-control-expose-headers', value: exposed, override }] : []),
      ];
    },
    ['AccessControlAllowMethods', 'AccessControlAllowHeaders'],
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
