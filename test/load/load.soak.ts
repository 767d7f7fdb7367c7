import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { logIn } from '../../local-aws/identity-provider/log-in.ts';
import { CONFIGURABLE_LIMITS } from '../../shared/contract/limits.ts';
import { client } from '../support/client.ts';
import { type StartedProcess, startProcess } from '../support/start-process.ts';
import { type Exchange, sendMixed, sendUploads } from '../support/traffic.ts';
import { departuresFromLimit } from './window.ts';

/** Nine honest accounts and one abusive account use `npm start` at the same time, for longer than the minute that a limit counts. */
const SECONDS = 75;
const HONEST = 9;
const HONEST_PER_SECOND = 1;
/** Ten times what the limit of uploads admits. */
const ABUSIVE_PER_SECOND = 10;

let dataDir: string;
let service: StartedProcess;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'load-'));
  service = await startProcess(dataDir, {});
});
afterAll(async () => {
  await service.end('SIGTERM');
  await rm(dataDir, { recursive: true, force: true });
});

async function newKey(name: string): Promise<string> {
  const { base_url } = service.urls;
  const { cookies } = await logIn({ startUrl: `${base_url}/auth/google`, email: `${name}@example.com` });
  return String((await client(base_url, { cookie: cookies }).postJson('/api-keys', { name })).body.key);
}

test('honest accounts are served, and an abusive one gets exactly what its limit admits', async () => {
  const rootUrl = service.urls.root_url;
  const keys: string[] = [];
  for (let account = 0; account < HONEST; account++) keys.push(await newKey(`honest-${account}`));
  const abusiveKey = await newKey('abusive');
  const honest: Exchange[] = [];
  const abusive: Exchange[] = [];
  const traffic = { rootUrl, seconds: SECONDS, requestsPerSecond: HONEST_PER_SECOND, connections: 1 };
  const flood = { ...traffic, key: abusiveKey, requestsPerSecond: ABUSIVE_PER_SECOND, connections: 2 };
  const [flooded, ...served] = await Promise.all([
    sendUploads(flood, abusive),
    ...keys.map((key) => sendMixed({ ...traffic, key }, honest)),
  ]);

  expect([flooded, ...served].map(({ errors }) => errors)).toEqual([0, ...keys.map(() => 0)]);
  expect(honest.filter(({ status }) => status >= 400)).toEqual([]);
  expect([...new Set(abusive.map(({ status }) => status))].sort()).toEqual([201, 429]);
  expect(departuresFromLimit(abusive, CONFIGURABLE_LIMITS.RATE_LIMIT_UPLOADS_PER_MINUTE.default)).toEqual([]);
});
