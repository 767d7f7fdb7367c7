import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEngine } from '../../local-aws/dynamodb/engine.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { engineOn } from '../support/start-process.ts';
import { everyRoute, type SentRequest } from './every-route.ts';

/**
 * While the database is frozen or dead, every route answers in time; when it is back, every route works again, without a restart of the
 * service. A dead one is started again.
 */

let dataDir: string;
let engine: Awaited<ReturnType<typeof startEngine>>;
let service: TestService;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'stopped-engine-'));
  engine = await startEngine({ dataDir });
  service = await startTestService({}, { dynamoDbEndpoint: engine.endpoint });
});
afterAll(async () => {
  await service.close();
  await engine.close();
  await rm(dataDir, { recursive: true, force: true });
});

const isLogout = ({ path }: SentRequest) => /\/auth\/logout\b/.test(path);
const endsSessions = ({ method, path }: SentRequest) => method === 'DELETE' && /\/auth\/sessions(?:\?|$)/.test(path);

/** Two accounts for one call of {@link statuses}. */
const newAccounts = async () => [await service.newAccount(), await service.newAccount()] as const;

/**
 * The status of each request to each route, once with the key and once with the session of an account. Logout comes after all that use the
 * session; the request that ends all sessions ends those of another account, because logout may have failed before it or not.
 */
async function statuses([account, other]: readonly [TestAccount, TestAccount]): Promise<Record<string, number>> {
  const { origin } = new URL(service.urls.root_url);
  const text = 'a.txt';
  const id = '01900000-0000-7000-8000-000000000000';
  const requestsOf = ({ key, cookie }: TestAccount) => {
    const credentials: Record<string, string>[] = [{ authorization: `Bearer ${key}` }, { cookie, origin }];
    return credentials.flatMap((credential) => everyRoute(credential, { id, text }));
  };
  const requests = [
    ...requestsOf(account).filter((request) => !endsSessions(request)),
    ...requestsOf(other).filter(endsSessions),
  ];
  const send = async (request: SentRequest): Promise<[string, number]> => {
    const { path, ...init } = request;
    const half = 'body' in init && typeof init.body !== 'string' && { duplex: 'half' };
    const response = await fetch(`${service.urls.root_url}${path}`, {
      ...init,
      ...half,
      redirect: 'manual',
    } as RequestInit);
    await response.text();
    return [`${requests.indexOf(request)} ${init.method} ${path}`, response.status];
  };
  const answers = await Promise.all(requests.filter((request) => !isLogout(request)).map(send));
  return Object.fromEntries([...answers, ...(await Promise.all(requests.filter(isLogout).map(send)))]);
}

/** Expects that each route answers as it should, or says that it cannot now; and that no function was ended because it took too long. */
async function expectInTime(
  accounts: readonly [TestAccount, TestAccount],
  usual: Record<string, number>,
): Promise<number[]> {
  const now = await statuses(accounts);
  const departures = Object.entries(now).filter(([request, status]) => ![usual[request], 503, 504].includes(status));
  expect(departures).toEqual([]);
  expect(service.logs.filter((line) => /timed out after|the function took too long/.test(line))).toEqual([]);
  return Object.values(now);
}

test('while the engine is frozen, and while it is dead, every route answers in time, and recovers', async () => {
  const [frozen, dead, owner] = [await newAccounts(), await newAccounts(), await service.newAccount()];
  const file = await owner.byKey.upload('kept.txt', 'hello');
  expect(file.status).toBe(201);
  let usual = await statuses(await newAccounts());
  // On a busy machine a first request, which starts a function, may be 503 as well.
  while (Object.values(usual).some((status) => status >= 500)) usual = await statuses(await newAccounts());

  const pid = engineOn(dataDir);
  process.kill(pid, 'SIGSTOP');
  try {
    expect(await expectInTime(frozen, usual)).toContain(503);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await expect.poll(() => newAccounts().then(statuses), { interval: 1_000 }).toEqual(usual);

  process.kill(pid, 'SIGKILL');
  // The engine is started again meanwhile, so some of these requests may succeed.
  await expectInTime(dead, usual);
  await expect.poll(() => newAccounts().then(statuses), { interval: 1_000 }).toEqual(usual);
  expect((await owner.byKey.request('GET', `/files/${file.body.id}`)).body).toEqual(file.body);
});
