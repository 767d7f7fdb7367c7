import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { client } from '../support/client.ts';
import { borrowTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await borrowTestService();
});
afterAll(() => service.close());

const health = () => client(service.urls.root_url).request('GET', '/health');

/** Of a process that has not probed yet. */
async function firstHealth() {
  await service.lambda.killEnvironments(service.lambda.find('HealthFunction').arn);
  return health();
}

describe('contract: health', () => {
  test('is 200 when database and storage answer', async () => {
    const { status, body } = await firstHealth();
    expect([status, body]).toEqual([200, { status: 'ok', db: 'ok', storage: 'ok' }]);
  });

  test.for([
    ['the database fails', { service: 'dynamodb' }, 'error-before', { status: 'degraded', db: 'error', storage: 'ok' }],
    ['the storage fails', { service: 's3' }, 'error-before', { status: 'degraded', db: 'ok', storage: 'error' }],
    [
      'the database does not answer',
      { service: 'dynamodb' },
      'timeout',
      { status: 'degraded', db: 'error', storage: 'ok' },
    ],
  ] as const)('is 503 when %s', async ([, match, effect, expected]) => {
    const fault = service.front.faults.add({ match, effect });
    const { status, body, headers } = await firstHealth();
    fault.remove();
    expect([status, body]).toEqual([503, expected]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('waits two seconds for an answer, not for every try of the client', async () => {
    const fault = service.front.faults.add({ match: { service: 'dynamodb', operation: 'GetItem' }, effect: 'timeout' });
    await firstHealth();
    fault.remove();
    // A try takes two seconds, too, so a second one may just have begun.
    expect(fault.hits).toBeLessThanOrEqual(2);
  });

  test('many requests are answered by one probe in three seconds', async () => {
    const startedAt = performance.now();
    const probes = service.front.faults.add({ match: {}, effect: { delayMs: 1 } });
    await firstHealth();
    for (let count = 0; count < 20; count += 1) expect((await health()).status).toBe(200);
    probes.remove();
    // Of the database and of the storage.
    expect(probes.hits).toBeLessThanOrEqual(2 * Math.ceil((performance.now() - startedAt) / 3_000));
  });

  test('a failure is told no longer than a few seconds after it is over', async () => {
    const fault = service.front.faults.add({ match: { service: 's3' }, effect: 'error-before' });
    expect((await firstHealth()).status).toBe(503);
    fault.remove();
    await expect.poll(async () => (await health()).status, { timeout: 4_000, interval: 100 }).toBe(200);
  });
});
