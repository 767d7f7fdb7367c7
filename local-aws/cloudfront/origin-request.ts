import type { CacheBehavior, Origin } from './distribution.ts';
import { type HeaderMap, header, removeHopByHop } from './header-map.ts';
import type { ViewerRequest } from './viewer-request.ts';

/** A request to an origin, without its body. */
export interface OriginRequest {
  readonly method: string;
  /** The origin's path prefix, path and query. */
  readonly target: string;
  readonly headers: HeaderMap;
}

/**
 * Headers that go to the origin whatever the policies say: they describe the body, or CloudFront uses them for ranges and
 * validation. Source: CloudFront Developer Guide, "Request and response behavior for custom origins".
 */
const ALWAYS_FORWARDED = [
  'content-encoding',
  'content-language',
  'content-length',
  'content-type',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'range',
];

/** Headers that are never accepted from a viewer: CloudFront adds or removes them itself. Source: as above. */
const NEVER_FORWARDED = /^(cloudfront-.*|expect|x-amz-cf-.*|x-edge-.*|x-forwarded-proto|x-real-ip)$/;

/** The methods whose requests lose `Authorization` when no policy names it; other requests keep it. */
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Turns the request of the viewer into the request to the origin, by the policies of the behavior. */
export function originRequest(viewer: ViewerRequest, behavior: CacheBehavior, origin: Origin): OriginRequest {
  const hasQuery = behavior.originRequestPolicy !== undefined && viewer.query !== '';
  return {
    method: viewer.method,
    target: `${origin.path}${viewer.path}${hasQuery ? `?${viewer.query}` : ''}`,
    headers: originHeaders(viewer, behavior, origin),
  };
}

function originHeaders(viewer: ViewerRequest, behavior: CacheBehavior, origin: Origin): HeaderMap {
  const given: HeaderMap = new Map(viewer.headers);
  removeHopByHop(given);

  const headers: HeaderMap = new Map([
    ['host', [origin.domainName]],
    ['user-agent', ['Amazon CloudFront']],
  ]);
  for (const [name, values] of given) {
    if (name !== 'cookie' && !NEVER_FORWARDED.test(name) && isForwarded(name, viewer.method, behavior))
      headers.set(name, values);
  }
  const cookies = (given.get('cookie') ?? []).flatMap((line) => line.split(/;\s*/)).filter((cookie) => cookie !== '');
  if (cookies.length > 0 && behavior.originRequestPolicy) headers.set('cookie', [cookies.join('; ')]);
  if (behavior.cachePolicy.encodings.length > 0) setAcceptEncoding(headers, given, behavior);

  headers.set('x-forwarded-for', [[...(given.get('x-forwarded-for') ?? []), viewer.ip].join(', ')]);
  headers.set('via', [...(given.get('via') ?? []), '1.1 local.cloudfront.net (CloudFront)']);
  headers.set('x-amz-cf-id', [viewer.id]);
  // Added last, so that a viewer cannot send them.
  for (const [name, value] of origin.customHeaders) headers.set(name, [value]);
  return headers;
}

function isForwarded(name: string, method: string, { originRequestPolicy }: CacheBehavior): boolean {
  if (ALWAYS_FORWARDED.includes(name)) return true;
  if (name === 'authorization' && !READS.has(method)) return true;
  return originRequestPolicy !== undefined && !originRequestPolicy.withheld.has(name);
}

/** Of the encodings that the viewer accepts, the origin sees only those that are cached separately. */
function setAcceptEncoding(headers: HeaderMap, given: HeaderMap, { cachePolicy }: CacheBehavior): void {
  const accepted = acceptedEncodings(header(given, 'accept-encoding'), cachePolicy.encodings);
  if (accepted.length > 0) headers.set('accept-encoding', [accepted.join(',')]);
  else headers.delete('accept-encoding');
}

/** The offered encodings that the viewer accepts, in the order in which they are offered. */
export function acceptedEncodings<T extends string>(acceptEncoding: string | undefined, offered: readonly T[]): T[] {
  const taken = (acceptEncoding ?? '')
    .toLowerCase()
    .split(',')
    .filter((item) => !/;\s*q=0(\.0*)?\s*$/.test(item))
    .map((item) => item.split(';')[0]?.trim());
  return offered.filter((encoding) => taken.includes(encoding));
}
