import { RATE_WINDOW_MS } from '../contract/limits.ts';
import type { RateClass } from '../contract/route.ts';
import { serviceUnavailable } from '../errors.ts';
import type { RatePolicy } from './policy.ts';
import { firstStep, moreAt, nextStep, remainingIn, type Step, type Window } from './window.ts';

export interface RateDecision {
  readonly admitted: boolean;
  /** How many requests are admitted in any span of {@link RATE_WINDOW_MS}. */
  readonly limit: number;
  /** Further requests that would be admitted now. */
  readonly remaining: number;
  /** How long until {@link remaining} grows: 0 to the length of the window. */
  readonly resetSeconds: number;
  /** How long until a rejected client is admitted again, at least 1; 0 when admitted. */
  readonly retryAfterSeconds: number;
}

export interface RateLimitStore {
  /**
   * Tries a step on the row of `key`, by one write.
   * @returns `done`: whether the condition of the step held. `window`: the row after this attempt; undefined when there is no row.
   * @throws ApiError `service_unavailable` when the write fails, or its answer is lost. The write is not repeated: if it had taken effect,
   *   the request would count twice.
   */
  attempt(
    key: string,
    policy: RatePolicy,
    step: Exclude<Step, { kind: 'reject' }>,
  ): Promise<{ readonly done: boolean; readonly window: Window | undefined }>;
}

/**
 * How many tries may fail, because other requests change the row, before the request is answered with 503. When each admission has its own
 * slot, three tries are enough (no row, a row that another request created, a slot opened). Shared slots may be used up between two tries.
 */
const ATTEMPTS_MAX = 100;

/**
 * Counts one request against the window of `key`, by one or two writes, and decides whether it is admitted.
 * @param now  epoch milliseconds.
 * @throws ApiError `service_unavailable` when the store fails: a request that cannot be counted is not admitted.
 */
export async function admit(
  store: RateLimitStore,
  { key, policy, now }: { readonly key: string; readonly policy: RatePolicy; readonly now: number },
): Promise<RateDecision> {
  let step: Step = firstStep(policy, now);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    if (step.kind === 'reject') return rejected(policy, step.until, now);
    const { done, window } = await store.attempt(key, policy, step);
    if (done && window) return admitted(policy, window, now);
    step = nextStep(policy, window, now);
  }
  throw serviceUnavailable({ detail: 'rate limit row too contended' });
}

function admitted({ limit }: RatePolicy, window: Window, now: number): RateDecision {
  return {
    admitted: true,
    limit,
    remaining: remainingIn(window, now),
    resetSeconds: secondsUntil(moreAt(window, now), now),
    retryAfterSeconds: 0,
  };
}

function rejected({ limit }: RatePolicy, until: number, now: number): RateDecision {
  const seconds = Math.max(1, secondsUntil(until, now));
  return { admitted: false, limit, remaining: 0, resetSeconds: seconds, retryAfterSeconds: seconds };
}

/**
 * The seconds until a time, rounded up, but at most the length of the window. A slot stays in use some milliseconds longer than the window,
 * by the tolerance between clocks (see `window.ts`). These milliseconds pass while the answer is on its way.
 */
function secondsUntil(time: number, now: number): number {
  return Math.min(RATE_WINDOW_MS / 1_000, Math.max(0, Math.ceil((time - now) / 1_000)));
}

/**
 * The headers of a counted response: `q` requests in any `w` seconds, `r` of them left, more in `t` seconds. A rejection also
 * says after how many seconds to come back, which is not before `t`.
 * Source: draft-ietf-httpapi-ratelimit-headers-11.
 */
export function rateLimitHeaders(decision: RateDecision, rateClass: RateClass): Record<string, string> {
  const { admitted, limit, remaining, resetSeconds, retryAfterSeconds } = decision;
  return {
    'RateLimit-Policy': `"${rateClass}";q=${limit};w=${RATE_WINDOW_MS / 1_000}`,
    RateLimit: `"${rateClass}";r=${remaining};t=${resetSeconds}`,
    ...(!admitted && { 'Retry-After': String(retryAfterSeconds) }),
  };
}
