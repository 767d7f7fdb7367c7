import type middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { rateLimitStore } from '../aws/rate-limit-store.ts';
import { RATE_CLASSES, type RateClass } from '../contract/route.ts';
import { limit } from '../env.ts';
import { ApiError } from '../errors.ts';
import type { ApiEvent } from '../http/request.ts';
import type { ApiResult } from '../http/response.ts';
import { rateKey, ratePolicy } from '../rate-limit/policy.ts';
import { admit, rateLimitHeaders } from '../rate-limit/rate-limiter.ts';
import type { Middleware } from './route-stack.ts';

type Request = middy.Request<ApiEvent, ApiResult, Error, Context, { rateLimitHeaders?: Record<string, string> }>;

/**
 * Counts the request against its subject, and adds `RateLimit` and `RateLimit-Policy` to the answer of every request that was counted
 * or refused.
 * @param subjectOf  finds the subject: the account or, for the routes of the login, the address of the client.
 * @throws ApiError `rate_limit_exceeded`; `service_unavailable` when the request cannot be counted.
 */
export function rateLimit(rateClass: RateClass, subjectOf: (event: ApiEvent) => string | Promise<string>): Middleware {
  const policy = ratePolicy(limit(RATE_CLASSES[rateClass]));

  async function rateLimitBefore({ event, internal }: Request): Promise<void> {
    const key = rateKey(rateClass, policy.limit, await subjectOf(event));
    const decision = await admit(rateLimitStore, { key, policy, now: Date.now() });
    internal.rateLimitHeaders = rateLimitHeaders(decision, rateClass);
    if (!decision.admitted) {
      throw new ApiError('rate_limit_exceeded', {
        detail: `more ${rateClass} in a minute than the limit`,
        facts: { requests_per_minute: policy.limit },
      });
    }
  }

  function addRateLimitHeaders({ response, internal }: Request): void {
    if (response) response.headers = { ...response.headers, ...internal.rateLimitHeaders };
  }

  return { before: rateLimitBefore, after: addRateLimitHeaders, onError: addRateLimitHeaders };
}
