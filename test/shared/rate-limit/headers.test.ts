import { expect, test } from 'vitest';
import { rateLimitHeaders } from '../../../shared/rate-limit/rate-limiter.ts';

test('the answer to an admitted request states the policy and how many requests remain', () => {
  const decision = { admitted: true, limit: 60, remaining: 59, resetSeconds: 12, retryAfterSeconds: 0 };
  expect(rateLimitHeaders(decision, 'uploads')).toEqual({
    'RateLimit-Policy': '"uploads";q=60;w=60',
    RateLimit: '"uploads";r=59;t=12',
  });
});

test('the answer to a rejected request also states when to try again, which is not before the reset', () => {
  const decision = { admitted: false, limit: 20, remaining: 0, resetSeconds: 41, retryAfterSeconds: 41 };
  expect(rateLimitHeaders(decision, 'login-starts')).toEqual({
    'RateLimit-Policy': '"login-starts";q=20;w=60',
    RateLimit: '"login-starts";r=0;t=41',
    'Retry-After': '41',
  });
});
