import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDynamoDbLocal } from '../../local-aws/dynamodb/dynamodb-local.ts';
import { logIn } from '../../local-aws/identity-provider/log-in.ts';
import { readBooks } from '../support/books.ts';
import { endDuringUploads, expectKept, type Promised } from '../support/busy-clients.ts';
import { client } from '../support/client.ts';
import { operatorOf } from '../support/operator.ts';
import { startTestService } from '../support/service.ts';
import { processesOn, type StartedProcess, startProcess } from '../support/start-process.ts';
import { PARTS_TOO_YOUNG, walkEverything } from './fast-forward.ts';

/** `npm start` loses nothing that it acknowledged when it ends during uploads and is started again on the same directory. */

const LIMITS = { RATE_LIMIT_UPLOADS_PER_MINUTE: '100000', RATE_LIMIT_REQUESTS_PER_MINUTE: '100000' };

/** On a busy machine a start alone can take half a minute. */
const TIMEOUT_MS = 180_000;

let dataDir: string;
let service: StartedProcess;
let cookie: string;
let key: string;
const promised: Promised = { files: new Map(), deleted: new Map(), arrived: new Map() };

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'durability-'));
  service = await startProcess(dataDir, LIMITS);
  cookie = (await logIn({ startUrl: `${service.urls.base_url}/auth/google`, email: 'me@example.com' })).cookies;
  key = String((await client(service.urls.base_url, { cookie }).postJson('/api-keys', { name: 'test' })).body.key);
});
afterAll(async () => {
  await service.end('SIGKILL');
  await rm(dataDir, { recursive: true, force: true });
});

test('ten SIGKILLs during uploads and deletions lose nothing that was acknowledged', {
  timeout: 10 * TIMEOUT_MS,
}, async () => {
  for (let kill = 1; kill <= 10; kill++) {
    // Each time somewhere else in the uploads.
    const after = { uploads: 4, milliseconds: 15 * kill };
    await endDuringUploads(service, { key, promised, wave: `kill ${kill}`, signal: 'SIGKILL', after });
    service = await startProcess(dataDir, LIMITS);
  }
  await expectKept(service.urls.base_url, key, promised);
  expect(promised.files.size).toBeGreaterThanOrEqual(30);
  expect(promised.deleted.size).toBe(9);
});

test('a SIGTERM during uploads ends `npm start` with exit code 0, and leaves no process', async () => {
  expect(processesOn(dataDir).length).toBeGreaterThan(0);
  const after = { uploads: 6, milliseconds: 0 };
  expect(await endDuringUploads(service, { key, promised, wave: 'second', signal: 'SIGTERM', after })).toBe(0);
  expect(processesOn(dataDir)).toEqual([]);
});

test('the acknowledged files are complete, and the books balance, after a SIGKILL, a SIGTERM, a sweep and a walk', {
  timeout: TIMEOUT_MS,
}, async () => {
  const engine = await startDynamoDbLocal({ dataDir: join(dataDir, 'dynamodb') });
  const again = await startTestService(LIMITS, {
    dataDir,
    dynamoDbEndpoint: engine.endpoint,
    accountId: '000000000000',
  });
  const operator = operatorOf(again);
  const me = await client(again.urls.base_url, { cookie }).request<{ id: string }>('GET', '/auth/me');
  const names = await expectKept(again.urls.base_url, key, promised);
  await operator.expireDeadlines();
  // Forms that died left objects without a row.
  await walkEverything(operator);
  await operator.sweep();
  const { problems, unfinished, accountOf } = await readBooks(operator);
  expect([...problems.filter((problem) => !PARTS_TOO_YOUNG.test(problem)), ...unfinished]).toEqual([]);
  expect(accountOf(me.body.id)).toMatchObject({ fileCount: names.length, names });
  operator.close();
  await again.close();
  await engine.close();
});
