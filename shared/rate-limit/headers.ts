import { RATE_WINDOW_SECONDS } from '../limits.ts';
import type { RateClass } from '../routes.ts';
import type { RateDecision } from './rate-limiter.ts';

/**
 * What a counted response says of its limit: `q` requests in any `w` seconds, `r` of them left, more in `t` seconds; a
 * rejection also says when to come back, which is not before `t`.
 * Source: draft-ietf-httpapi-ratelimit-headers-11.
 */
export function rateLimitHeaders(decision: RateDecision, rateClass: RateClass): Record<string, string> {
  const { admitted, limit, remaining, resetSeconds, retryAfterSeconds } = decision;
  return {
    'RateLimit-Policy': `"${rateClass}";q=${limit};w=${RATE_WINDOW_SECONDS}`,
    RateLimit: `"${rateClass}";r=${remaining};t=${resetSeconds}`,
    ...(!admitted && { 'Retry-After': String(retryAfterSeconds) }),
  };
}
