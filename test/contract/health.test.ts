import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { client } from '../support/client.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const health = () => client(service.urls.root_url).request('GET', '/health');

describe('contract: health', () => {
  test('is 200 when database and storage answer', async () => {
    const { status, body } = await health();
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
    const { status, body } = await health();
    fault.remove();
    expect([status, body]).toEqual([503, expected]);
  });

  test('waits two seconds for an answer, not for every try of the client', async () => {
    const fault = service.front.faults.add({ match: { service: 'dynamodb', operation: 'GetItem' }, effect: 'timeout' });
    await health();
    fault.remove();
    // A try takes two seconds, too, so a second one may just have begun.
    expect(fault.hits).toBeLessThanOrEqual(2);
  });
});
