import type { HeaderMap } from './header-map.ts';
import type { CachePolicy } from './policies.ts';

/** CloudFront caches these errors of GET requests even where caching is disabled. Source: "HTTP 4xx and 5xx status codes …". */
const ALWAYS_CACHED_ERRORS = [404, 410, 414, 500, 501, 502, 503, 504];
/**
 * The errors of the list above that are not cached when the answer has `no-store`, `no-cache` or `private`. The others of that list are
 * cached even then. Source: "Control how long CloudFront caches errors".
 */
const UNLESS_FORBIDDEN = [404, 410, 414, 501];
/** These errors are cached only when the origin says for how long, or when `CustomErrorResponses` has a page for them. */
const CACHED_ERRORS_IF_ASKED = [400, 403, 405, 412, 415];

const REDIRECTS = [301, 302, 307, 308];

/** The lifetime of errors whose status `CustomErrorResponses` does not name. */
export const DEFAULT_ERROR_CACHING_SECONDS = 10;

/**
 * How long an answer to a GET may be served from the cache without asking the origin.
 * @returns seconds; 0 when it may be cached but must be validated; undefined when it must not be cached.
 * Source: CloudFront Developer Guide, "Manage how long content stays in the cache (expiration)".
 */
export function lifetimeSeconds(
  status: number,
  headers: HeaderMap,
  policy: CachePolicy,
  now: Date,
): number | undefined {
  if (policy.maxTtlSeconds === 0 || (headers.get('vary') ?? []).includes('*')) return undefined;
  if (status !== 200 && !REDIRECTS.includes(status)) return undefined;
  const control = cacheControl(headers);
  if (control.has('no-store') || control.has('private')) return policy.minTtlSeconds || undefined;
  if (control.has('no-cache')) return policy.minTtlSeconds;
  const asked = askedSeconds(control, headers, now);
  if (asked === undefined && status !== 200) return undefined;
  return clamp(asked ?? policy.defaultTtlSeconds, policy);
}

/**
 * How long an error of the origin, or CloudFront's own, may be served from the cache.
 * @returns  as {@link lifetimeSeconds}.
 * @param error  `minTtlSeconds` is that of `CustomErrorResponses` or the default; `hasPage` says whether there is a page for
 *   the error.
 */
export function errorLifetimeSeconds(
  error: { status: number; headers: HeaderMap; minTtlSeconds: number; hasPage: boolean },
  now: Date,
): number | undefined {
  const { status, headers, minTtlSeconds } = error;
  const control = cacheControl(headers);
  const asked = askedSeconds(control, headers, now);
  const isForbidden = control.has('no-store') || control.has('no-cache') || control.has('private');
  if (UNLESS_FORBIDDEN.includes(status) && isForbidden) return undefined;
  const isKept =
    ALWAYS_CACHED_ERRORS.includes(status) ||
    (CACHED_ERRORS_IF_ASKED.includes(status) && (asked !== undefined || error.hasPage));
  const seconds = Math.max(asked ?? 0, minTtlSeconds);
  return isKept && seconds > 0 ? seconds : undefined;
}

/**
 * True when CloudFront serves an object although its lifetime is over, because the origin fails. Without `stale-if-error` it does so for as
 * long as it has the object. Source: CloudFront Developer Guide, "How CloudFront processes HTTP 4xx and 5xx status codes from your origin".
 */
export function isServedOnError(headers: HeaderMap, expiredForMs: number): boolean {
  const seconds = cacheControl(headers).get('stale-if-error');
  return seconds === undefined || expiredForMs < Number(seconds) * 1_000;
}

function clamp(seconds: number, { minTtlSeconds, maxTtlSeconds }: CachePolicy): number {
  return Math.min(Math.max(seconds, minTtlSeconds), maxTtlSeconds);
}

function askedSeconds(control: ReadonlyMap<string, string>, headers: HeaderMap, now: Date): number | undefined {
  const seconds = control.get('s-maxage') ?? control.get('max-age');
  if (seconds !== undefined && /^\d+$/.test(seconds)) return Number(seconds);
  const expires = headers.get('expires')?.[0];
  if (expires === undefined) return undefined;
  const at = Date.parse(expires);
  return Number.isNaN(at) ? 0 : Math.max(0, Math.floor((at - now.getTime()) / 1_000));
}

function cacheControl(headers: HeaderMap): ReadonlyMap<string, string> {
  const directives = (headers.get('cache-control') ?? []).join(',').toLowerCase().split(',');
  return new Map(
    directives.map((directive) => {
      const [name = '', value = ''] = directive.trim().split('=');
      return [name, value.replaceAll('"', '')];
    }),
  );
}
