import { afterAll, describe, expect, test } from 'vitest';
import { client } from '../support/client.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService({
  RATE_LIMIT_UPLOADS_PER_MINUTE: '3',
  RATE_LIMIT_LISTS_PER_MINUTE: '60',
  RATE_LIMIT_REQUESTS_PER_MINUTE: '1000000',
  RATE_LIMIT_LOGIN_STARTS_PER_MINUTE: '200',
});
afterAll(() => service.close());

describe('contract: rate limits', () => {
  test('exactly as many of 100 simultaneous requests succeed as the limit allows', async () => {
    const { byKey } = await service.newAccount();
    const answers = await Promise.all(Array.from({ length: 100 }, () => byKey.request('GET', '/files')));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
  });

  test('every counted answer has the RateLimit headers, and a 429 has Retry-After', async () => {
    const { byKey } = await service.newAccount();
    const startedAt = Date.now();
    for (const left of [2, 1, 0]) {
      const { status, headers } = await byKey.upload('a', 'a');
      expect(status).toBe(201);
      expect(headers.get('ratelimit-policy')).toBe('"uploads";q=3;w=60');
      expect(headers.get('ratelimit')).toMatch(new RegExp(`^"uploads";r=${left};t=\\d+$`));
    }
    const { status, headers, body } = await byKey.upload('a', 'a');
    expect([status, body]).toEqual([429, { error: 'rate_limit_exceeded' }]);
    const [, seconds] = /^"uploads";r=0;t=(\d+)$/.exec(headers.get('ratelimit') ?? '') ?? [];
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(Number(seconds));
    const passedSeconds = (Date.now() - startedAt) / 1_000;
    expect(Number(seconds)).toBeGreaterThanOrEqual(60 - passedSeconds);
    expect(Number(seconds)).toBeLessThanOrEqual(60);
  });

  test('keys and sessions of an account share one count per class; other classes and accounts do not', async () => {
    const [mine, other] = [await service.newAccount(), await service.newAccount()];
    for (let time = 0; time < 2; time++) await mine.byKey.upload('a', 'a');
    expect((await mine.bySession.upload('a', 'a')).status).toBe(201);
    expect((await mine.byKey.upload('a', 'a')).status).toBe(429);
    expect((await mine.byKey.request('GET', '/files')).status).toBe(200);
    expect((await other.byKey.upload('a', 'a')).status).toBe(201);
  });

  test('a request without a valid credential is not counted', async () => {
    const answer = await client(service.urls.base_url, { key: 'svc_test_nonsense' }).request('GET', '/files');
    expect(answer.status).toBe(401);
    expect(answer.headers.get('ratelimit')).toBeNull();
  });

  test.for([
    ['/auth/google', 'login-starts'],
    ['/auth/google/callback', 'login-callbacks'],
  ] as const)('a request to %s without a credential is counted as %s', async ([path, rateClass]) => {
    const left = [];
    for (const _ of [1, 2]) {
      const { headers } = await client(service.urls.base_url).request('GET', path);
      expect(headers.get('ratelimit-policy')).toBe(`"${rateClass}";q=200;w=60`);
      left.push(Number(/;r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1]));
    }
    expect(left[1]).toBe(Number(left[0]) - 1);
  });

  test('the rate limit is checked before the request itself', async () => {
    const { byKey } = await service.newAccount();
    for (let time = 0; time < 3; time++) await byKey.postJson('/uploads', 'not an object');
    const answer = await byKey.request('POST', '/files', { body: 'x', headers: { 'content-type': 'text/plain' } });
    expect(answer.status).toBe(429);
  });

  test('completing a direct upload does not count as an upload', async () => {
    const { byKey } = await service.newAccount();
    for (let time = 0; time < 3; time++) await byKey.upload('a', 'a');
    const { status, headers } = await byKey.request('POST', '/uploads/01900000-0000-7000-8000-000000000000/complete');
    expect(status).toBe(404);
    expect(headers.get('ratelimit-policy')).toBe('"requests";q=1000000;w=60');
  });

  test('a request that cannot be counted is 503', async () => {
    const { byKey } = await service.newAccount();
    const fault = service.front.faults.add({
      match: { service: 'dynamodb', operation: 'UpdateItem', table: service.tables.rateLimits },
      effect: 'throttle',
    });
    const answer = await byKey.request('GET', '/files');
    fault.remove();
    expect([answer.status, answer.body]).toEqual([503, { error: 'service_unavailable' }]);
    expect(fault.hits).toBe(1);
  });
});
