import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { client } from '../support/client.ts';
import { borrowTestService } from '../support/service.ts';

const service = await borrowTestService();
afterAll(() => service.close());

const health = () => client(service.urls.root_url).request('GET', '/health');

/** Asks a new process, which has not probed database and storage yet. */
async function firstHealth() {
  await service.lambda.killEnvironments(service.lambda.find('HealthFunction').arn);
  return health();
}

/** Expects an answer of a new process. On a busy machine the SDK may need all of a probe's two seconds to load, so others are asked. */
const expectFirstHealth = (status: number, body: object) =>
  vi.waitFor(
    async () => {
      const answer = await firstHealth();
      expect([answer.status, answer.body]).toEqual([status, body]);
      return answer;
    },
    { timeout: 120_000 },
  );

const WELL = { status: 'ok', db: 'ok', storage: 'ok' };

describe('contract: health', () => {
  test('the health check is 200 when database and storage respond', async () => {
    await expectFirstHealth(200, WELL);
  });

  test('the health check sends the commit of its code in a header', async () => {
    const { headers } = await firstHealth();
    expect(headers.get('x-commit')).toBe(service.lambda.find('HealthFunction').variables.COMMIT);
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
  ] as const)('the health check is 503 when %s', async ([, match, effect, expected]) => {
    const fault = service.front.faults.add({ match, effect });
    const { headers } = await expectFirstHealth(503, expected);
    fault.remove();
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('the health check of npm start is 503 while the disk is full: the log says so, uploads fail, files can be deleted', async () => {
    const { byKey } = await service.newAccount();
    const { body: file } = await byKey.upload('old.txt', 'old');
    const disk = vi.spyOn(fs, 'statfsSync');
    const log = vi.spyOn(console, 'error').mockReturnValue();
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
    const leave = (mebibytes: number) => {
      disk.mockReturnValue({ bavail: mebibytes, bsize: 1024 * 1024 } as fs.StatsFs);
      syncBuiltinESMExports();
    };

    leave(63);
    await expectFirstHealth(503, { status: 'degraded', db: 'ok', storage: 'error' });
    expect((await byKey.upload('new.txt', 'new')).status).toBe(503);
    expect(log.mock.calls.flat()).toContainEqual(
      expect.stringMatching(/^The disk of \/.* is full: 63 MiB are free, and 64 MiB are needed\.$/),
    );
    expect((await byKey.request('DELETE', `/files/${file.id}`)).status).toBe(200);

    leave(64);
    await expectFirstHealth(200, WELL);
    expect((await byKey.upload('new.txt', 'new')).status).toBe(201);
  });

  test('the health check waits two seconds in all, not for each retry of the SDK', async () => {
    const fault = service.front.faults.add({ match: { service: 'dynamodb', operation: 'GetItem' }, effect: 'timeout' });
    await firstHealth();
    fault.remove();
    // A single attempt times out after two seconds, too, so a second attempt may just have started.
    expect(fault.hits).toBeLessThanOrEqual(2);
  });

  test('many health checks within three seconds share one probe', async () => {
    const startedAt = performance.now();
    const probes = service.front.faults.add({ match: {}, effect: { delayMs: 1 } });
    const { status } = await firstHealth();
    for (let count = 0; count < 20; count += 1) expect((await health()).status).toBe(status);
    probes.remove();
    // One probe is two calls: database and storage.
    expect(probes.hits).toBeLessThanOrEqual(2 * Math.ceil((performance.now() - startedAt) / 3_000));
  });

  test('the health check is 200 again at the first probe after a failure has ended', async () => {
    const fault = service.front.faults.add({ match: { service: 's3' }, effect: 'error-before' });
    expect((await firstHealth()).status).toBe(503);
    fault.remove();
    const failed = () =>
      service.logs.filter((line) => line.includes('probe failed') && line.includes('storage')).length;
    const before = failed();
    const probes = service.front.faults.add({ match: { service: 's3' }, effect: { delayMs: 1 } });
    await expect.poll(async () => (await health()).status, { interval: 100 }).toBe(200);
    probes.remove();
    // The next probe, which may begin three seconds after the last one, tells the truth, unless the machine is too busy for it.
    expect(probes.hits).toBe(1 + failed() - before);
  });
});
