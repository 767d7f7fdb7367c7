import type middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { rateLimitStore } from '../aws/rate-limit-store.ts';
import { limit } from '../env.ts';
import { ApiError } from '../errors.ts';
import type { ApiEvent, ApiResult } from '../http/event.ts';
import { clientSubject } from '../rate-limit/client-subject.ts';
import { RATE_LIMIT_OF_CLASS, rateKey, ratePolicy } from '../rate-limit/policy.ts';
import { admit, rateLimitHeaders } from '../rate-limit/rate-limiter.ts';
import { Rejections } from '../rate-limit/rejections.ts';
import type { RateClass } from '../routes.ts';
import { viewerAddress } from './viewer.ts';

type Request = middy.Request<ApiEvent, ApiResult, Error, Context, { rateLimitHeaders?: Record<string, string> }>;

/**
 * Counts the request against its account, or against the client's address for the start of a login, and puts
 * `RateLimit` and `RateLimit-Policy` on the answer, whatever it is.
 * @throws ApiError `rate_limit_exceeded`; `service_unavailable` when the count cannot be kept.
 */
export function rateLimit(rateClass: RateClass): middy.MiddlewareObj<ApiEvent, ApiResult> {
  const policy = ratePolicy(limit(RATE_LIMIT_OF_CLASS[rateClass]));
  const rejections = new Rejections();

  async function rateLimitBefore({ event, internal }: Request): Promise<void> {
    const subject = event.caller?.accountId ?? clientSubject(await viewerAddress(event));
    const key = rateKey(rateClass, policy.limit, subject);
    const decision = await admit({ store: rateLimitStore, rejections }, { key, policy, now: Date.now() });
    internal.rateLimitHeaders = rateLimitHeaders(decision, rateClass);
    if (!decision.admitted) throw new ApiError('rate_limit_exceeded');
  }

  function addRateLimitHeaders({ response, internal }: Request): void {
    if (response) response.headers = { ...response.headers, ...internal.rateLimitHeaders };
  }

  return { before: rateLimitBefore, after: addRateLimitHeaders, onError: addRateLimitHeaders };
}
