import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { logIn } from '../../../local-aws/identity-provider/log-in.ts';
import { client } from '../../support/client.ts';
import { startProcess } from '../../support/start-process.ts';

/** `npm start` on the engine that keeps its tables in memory. */
test('on DynamoDB Local each start is empty, and no object of a former one is left', { timeout: 240_000 }, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'second-engine-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  for (let start = 0; start < 2; start++) {
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
    expect(await service.end('SIGTERM')).toBe(0);
    expect(existsSync(join(dataDir, 's3'))).toBe(false);
  }
});
