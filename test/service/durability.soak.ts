import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEngine } from '../../local-aws/dynamodb/engine.ts';
import { logIn } from '../../local-aws/identity-provider/log-in.ts';
import { readBooks } from '../support/books.ts';
import {
  ACTS,
  compareWithPromised,
  endDuringTraffic,
  type JudgedAccount,
  judgedAccount,
} from '../support/busy-clients.ts';
import { client } from '../support/client.ts';
import { operatorOf } from '../support/operator.ts';
import { startTestService } from '../support/service.ts';
import { processesOn, type StartedProcess, startProcess } from '../support/start-process.ts';
import { type Exchange, KINDS_OF_MIXED } from '../support/traffic.ts';
import { PARTS_TOO_YOUNG, walkEverything } from './fast-forward.ts';

/** `npm start` loses nothing that it acknowledged when it ends amid mixed traffic and is started again on the same directory. */

const LIMITS = {
  RATE_LIMIT_UPLOADS_PER_MINUTE: '100000',
  RATE_LIMIT_LISTS_PER_MINUTE: '100000',
  RATE_LIMIT_REQUESTS_PER_MINUTE: '100000',
  // One account uploads until the last kill, and deletes nothing.
  STORAGE_LIMIT_BYTES: '1000000000000',
};
const KILLS = 10;

/** On a busy machine a start alone can take half a minute. */
const TIMEOUT_MS = 180_000;

let dataDir: string;
let service: StartedProcess;
/** A session of each judged account. */
const cookies: string[] = [];
const judged: JudgedAccount[] = [];
/** Keys of accounts that send mixed traffic. */
const others: string[] = [];

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'durability-'));
  service = await startProcess(dataDir, LIMITS);
  for (const size of ['small', 'large'] as const) {
    const { key, cookie } = await newAccount(size);
    cookies.push(cookie);
    judged.push(judgedAccount(key, size));
  }
  for (const name of ['first', 'second', 'third']) others.push((await newAccount(name)).key);
});
afterAll(async () => {
  await service.end('SIGKILL');
  await rm(dataDir, { recursive: true, force: true });
});

async function newAccount(name: string): Promise<{ readonly key: string; readonly cookie: string }> {
  const { base_url } = service.urls;
  const { cookies: cookie } = await logIn({ startUrl: `${base_url}/auth/google`, email: `${name}@example.com` });
  const { body } = await client(base_url, { cookie }).postJson('/api-keys', { name });
  return { key: String(body.key), cookie };
}

/** Expects that the other accounts had an answer to every kind of request, and no error but those of a service that ends. */
function expectMixed(exchanges: readonly Exchange[]): void {
  expect(exchanges.filter(({ status }) => status >= 400 && status < 500)).toEqual([]);
  expect(new Set(exchanges.filter(({ status }) => status < 400).map(({ kind }) => kind))).toEqual(KINDS_OF_MIXED);
}

test('ten SIGKILLs amid mixed traffic lose nothing that was acknowledged', { timeout: 10 * TIMEOUT_MS }, async () => {
  const exchanges: Exchange[] = [];
  for (let kill = 1; kill <= KILLS; kill++) {
    // Each time somewhere else in the traffic.
    const wave = { judged, others, name: `kill ${kill}`, signal: 'SIGKILL', milliseconds: 15 * kill } as const;
    exchanges.push(...(await endDuringTraffic(service, wave)).exchanges);
    service = await startProcess(dataDir, LIMITS);
  }
  const compared = await Promise.all(judged.map((account) => compareWithPromised(service.urls.base_url, account)));
  const losses = compared.flatMap((one) => one.losses);
  const acknowledged = Object.fromEntries(
    ACTS.map((act) => [act, judged.reduce((sum, account) => sum + account.acknowledged[act], 0)]),
  );
  console.log({ kills: KILLS, acknowledged, mixedRequests: exchanges.length });
  expect(losses).toEqual([]);
  for (const act of ACTS) expect(acknowledged[act], act).toBeGreaterThan(0);
  expectMixed(exchanges);
});

test('a SIGTERM amid mixed traffic ends `npm start` with exit code 0, and leaves no process', async () => {
  expect(processesOn(dataDir).length).toBeGreaterThan(0);
  const wave = { judged, others, name: 'last', signal: 'SIGTERM', milliseconds: 0 } as const;
  const { code, exchanges } = await endDuringTraffic(service, wave);
  expect(code).toBe(0);
  expect(processesOn(dataDir)).toEqual([]);
  expectMixed(exchanges);
});

test('the acknowledged files are complete, and the books balance, after a SIGKILL, a SIGTERM, a sweep and a walk', {
  timeout: TIMEOUT_MS,
}, async () => {
  const engine = await startEngine({ dataDir: join(dataDir, 'dynamodb') });
  const again = await startTestService(LIMITS, {
    dataDir,
    dynamoDbEndpoint: engine.endpoint,
    accountId: '000000000000',
  });
  const operator = operatorOf(again);
  const { base_url } = again.urls;
  const compared = await Promise.all(judged.map((account) => compareWithPromised(base_url, account)));
  expect(compared.flatMap(({ losses }) => losses)).toEqual([]);
  await operator.expireDeadlines();
  // Forms that died left objects without a row.
  await walkEverything(operator);
  await operator.sweep();
  const { problems, unfinished, accountOf } = await readBooks(operator);
  expect([...problems.filter((problem) => !PARTS_TOO_YOUNG.test(problem)), ...unfinished]).toEqual([]);
  for (const [index, { names }] of compared.entries()) {
    const me = await client(base_url, { cookie: cookies[index] }).request<{ id: string }>('GET', '/auth/me');
    expect(accountOf(me.body.id)).toMatchObject({ fileCount: names.length, names });
  }
  operator.close();
  await again.close();
  await engine.close();
});
