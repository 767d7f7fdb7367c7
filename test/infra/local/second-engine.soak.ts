import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { logIn } from '../../../local-aws/identity-provider/log-in.ts';
import { client } from '../../support/client.ts';
import { startProcess } from '../../support/start-process.ts';

/** `npm start` on the engine that keeps its tables in memory. */
test('on DynamoDB Local each start is empty, whichever way the former one ended', { timeout: 600_000 }, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'second-engine-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  for (const signal of ['SIGTERM', 'SIGKILL', 'SIGTERM'] as const) {
    const service = await startProcess(dataDir, { ENGINE: 'dynamodb-local' });
    onTestFinished(() => void service.end('SIGKILL'));
    const { base_url } = service.urls;
    const { cookies } = await logIn({ startUrl: `${base_url}/auth/google`, email: 'me@example.com' });
    const { body } = await client(base_url, { cookie: cookies }).postJson('/api-keys', { name: 'test' });
    const files = client(base_url, { key: String(body.key) });
    expect((await files.request('GET', '/files')).body.total).toBe(0);
    const file = await files.upload('a.txt', 'hello');
    expect(file.status).toBe(201);
    expect(await (await fetch(String(file.body.url))).text()).toBe('hello');
    await service.end(signal);
  }
});
