import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { client } from '../support/client.ts';
import { generateFiles } from '../support/generated-files.ts';
import { askForTicket, complete, put, retryWhileBusy, uploadStreaming } from '../support/lanes.ts';
import { operatorOf } from '../support/operator.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { withFault } from '../support/with-fault.ts';

/**
 * Tests how many calls to AWS a request makes, how many of these calls follow one another (rounds), and how many units of DynamoDB they use.
 * Rounds decide how long a request takes, and units what it costs; neither depends on the machine. Other tests here check what a function reads while it loads, and before
 * it knows that the request is allowed.
 */

const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';
const LISTS_PER_MINUTE = 6;
/** Content that does not fit into one part. */
const LARGE = new Uint8Array(6 * 1024 * 1024);

let service: TestService;
let account: TestAccount;

beforeAll(async () => {
  service = await startTestService({
    RATE_LIMIT_LISTS_PER_MINUTE: String(LISTS_PER_MINUTE),
    RATE_LIMIT_REQUESTS_PER_MINUTE: '100',
    RATE_LIMIT_UPLOADS_PER_MINUTE: '100',
  });
  service.holdEvents();
});
afterAll(() => service.close());

/** Calls that were sent together overlap reliably with this delay, so that the meter counts them as one round. */
const SLOW = { match: {}, effect: { delayMs: 40 } } as const;

/** Sends a request. @returns its answer, and what it cost. */
async function metered<Answer>(request: () => Promise<Answer>) {
  const mark = service.front.meter.mark();
  const answer = await withFault(service, SLOW, request);
  const { calls, rounds, readUnits, writeUnits } = service.front.meter.since(mark);
  return { answer, calls: calls.length, rounds, readUnits, writeUnits };
}

/** What a request asked of AWS, each call as its operation and the name of its table. */
async function callsOf(request: () => Promise<unknown>): Promise<string[]> {
  const names = new Map(Object.entries(service.tables).map(([name, physical]) => [physical, name]));
  const mark = service.front.meter.mark();
  await request();
  const { calls } = service.front.meter.since(mark);
  return calls.map(({ operation, tables: [table = ''] }) => `${operation} ${names.get(table)}`).sort();
}

describe('a function that has just been loaded', () => {
  const request = () => account.byKey.request('GET', '/files/no-id');
  const CALLS = ['GetItem apiKeys', 'UpdateItem rateLimits'];

  beforeAll(async () => {
    account = await service.newAccount();
    await request();
  });
  beforeEach(() => service.lambda.killEnvironments(service.lambda.find('GetFileFunction').arn));

  test('has made one read more when it answers its first request, and none more for the second', async () => {
    expect(await callsOf(request)).toEqual(['GetItem apiKeys', 'GetItem sessions', 'UpdateItem rateLimits']);
    expect(await callsOf(request)).toEqual(CALLS);
  });

  test.each([
    ['fails', 'error-before'],
    ['gets no answer', 'timeout'],
  ] as const)('answers its first request even if that read %s', async (_, effect) => {
    const read = { table: service.tables.sessions, operation: 'GetItem' };
    service.logs.length = 0;
    expect((await withFault(service, { match: read, effect }, request)).status).toBe(404);
    expect(service.logs.filter((line) => line.includes('not warmed up'))).toHaveLength(1);
    expect(await callsOf(request)).toEqual(CALLS);
  });
});

describe('in a warm function, by key (the profile by session),', () => {
  let id: unknown;
  beforeAll(async () => {
    account = await service.newAccount();
    for (const name of ['a', 'b', 'c']) ({ id } = (await account.byKey.upload(name, name)).body);
  });

  const get = (path: string) => () => account.byKey.request('GET', path);
  const upload = () => account.byKey.upload('new', 'x'.repeat(4_096));
  const uploadOnce = () =>
    account.byKey.upload('new', 'x'.repeat(4_096), { headers: { 'idempotency-key': crypto.randomUUID() } });

  test.each([
    ['the first page of the list', () => get('/files'), { calls: 4, rounds: 4, writeUnits: 1, readUnits: 3 }],
    [
      'any other page of the list',
      () => get('/files?limit=1&page=2'),
      { calls: 5, rounds: 5, writeUnits: 1, readUnits: 4 },
    ],
    ['a search among few files', () => get('/files?search=a'), { calls: 5, rounds: 5, writeUnits: 1, readUnits: 4 }],
    [
      'a request for the details of a file',
      () => get(`/files/${id}`),
      { calls: 3, rounds: 3, writeUnits: 1, readUnits: 2 },
    ],
    ['an inline upload', () => upload, { calls: 5, rounds: 5, writeUnits: 6, readUnits: 2 }],
    [
      'an inline upload with a new Idempotency-Key',
      () => uploadOnce,
      { calls: 6, rounds: 6, writeUnits: 8, readUnits: 3 },
    ],
    [
      'a streaming upload',
      () => () => uploadStreaming(account, 'a', LARGE),
      { calls: 8, rounds: 8, writeUnits: 6, readUnits: 2 },
    ],
    [
      'the profile',
      () => () => account.bySession.request('GET', '/auth/me'),
      { calls: 3, rounds: 3, writeUnits: 1, readUnits: 2 },
    ],
  ])('%s makes no more calls and rounds than it needs', async (_, requestOf, floor) => {
    const request = requestOf();
    // The first request of a function also reads what the function then caches, and the first of an account creates a row.
    expect((await request()).status).toBeLessThan(300);
    const { answer, ...cost } = await metered(request);
    expect(answer.status).toBeLessThan(300);
    expect(cost).toEqual(floor);
  });

  test('a ticket, its completion and a deletion make no more calls and rounds than they need', async () => {
    let costs: Awaited<ReturnType<typeof metered<{ readonly status: number }>>>[] = [];
    // Calls that were sent together count as two rounds when a pause has parted them. They never count as fewer than they are.
    const parted = () => (costs[1]?.rounds ?? 0) > 7;
    for (let time = 0; time < 2 || (parted() && time < 8); time++) {
      const ticket = await metered(() => askForTicket(account.byKey, 'direct', 1));
      expect(await put(ticket.answer.body, 'x')).toBe(200);
      const completion = await metered(() => complete(account.byKey, ticket.answer.body));
      const file = await account.byKey.upload('a', 'a');
      const deletion = await metered(() => account.byKey.request('DELETE', `/files/${file.body.id}`));
      costs = [ticket, completion, deletion];
    }
    expect(costs.map(({ answer }) => answer.status)).toEqual([202, 201, 200]);
    expect(costs.map(({ answer: _answer, ...cost }) => cost)).toEqual([
      { calls: 4, rounds: 4, writeUnits: 5, readUnits: 2 },
      { calls: 8, rounds: 7, writeUnits: 9, readUnits: 3 },
      { calls: 6, rounds: 6, writeUnits: 11, readUnits: 2 },
    ]);
  });
});

test('a search among 5,000 files reads 64 names with each item, and each distant file of its page by a call', async () => {
  const count = 5_000;
  account = await service.newAccount();
  const operator = operatorOf(service);
  const nameOf = (seq: number) => `${seq % 50 === 7 ? 'Rare' : 'Holiday'} photo ${seq}.jpeg`;
  await generateFiles(operator.dynamoDb, service.tables, { accountId: account.id, count, nameOf });
  operator.close();
  const search = (part: string) => () =>
    account.byKey.request<{ total: number; items: { name: string }[] }>('GET', `/files?search=${part}`);
  await search('first')();
  let nothing = await metered(search('no-such-name'));
  for (let again = 0; nothing.rounds > 4 && again < 3; again++) nothing = await metered(search('no-such-name'));
  expect(nothing.answer.body).toMatchObject({ total: 0, items: [] });
  expect(nothing).toMatchObject({ calls: 6, rounds: 4, writeUnits: 1 });
  expect(nothing.readUnits).toBeLessThanOrEqual((500 * count) / 100_000);
  const rare = await metered(search('RARE'));
  expect(rare.answer.body.total).toBe(100);
  expect(rare.answer.body.items.map(({ name }) => name)).toEqual(
    Array.from({ length: 50 }, (_, index) => `Rare photo ${4_957 - 50 * index}.jpeg`),
  );
  // The files of the page are too far from each other to be read as ranges.
  expect(rare.calls).toBe(6 + 50);
  expect(rare.readUnits).toBeLessThanOrEqual(nothing.readUnits + 50);
});

test('30 uploads of an account at once cost at most twice the write units that they cost one by one', async () => {
  account = await service.newAccount();
  await account.byKey.upload('first', 'x');
  const mark = service.front.meter.mark();
  let requests = 0;
  const upload = (name: string) => {
    requests++;
    return account.byKey.upload(name, 'x');
  };
  const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => retryWhileBusy(() => upload(`${index}`))));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  expect(service.front.meter.since(mark).writeUnits).toBeLessThanOrEqual(2 * requests * 6);
});

describe('the use of a key', () => {
  const list = () => account.byKey.request('GET', '/files');
  const lastUse = async () =>
    (await account.bySession.request<{ items: { last_used_at: string | null }[] }>('GET', '/api-keys')).body.items[0]
      ?.last_used_at;
  const note = () => ({ match: { table: service.tables.apiKeys, operation: 'UpdateItem' } });
  beforeEach(async () => {
    account = await service.newAccount();
    await account.bySession.request('GET', '/files');
    expect(await lastUse()).toBeNull();
  });

  test('is noted before the request is answered', async () => {
    const startedAt = Date.now();
    const { answer, readUnits, ...cost } = await metered(list);
    expect(answer.status).toBe(200);
    // An account without files has no read of files.
    expect(cost).toEqual({ calls: 4, rounds: 4, writeUnits: 2 });
    expect(Date.parse((await lastUse()) ?? '')).toBeGreaterThanOrEqual(startedAt);
  });

  test.each([
    ['fails', 'error-before'],
    ['gets no answer', 'timeout'],
  ] as const)('does not change the answer when the write that notes it %s', async (_, effect) => {
    expect((await withFault(service, { ...note(), effect }, list)).status).toBe(200);
    expect(await lastUse()).toBeNull();
  });

  test('is noted even when the rate limiter refuses the request', async () => {
    for (let time = 1; time < LISTS_PER_MINUTE; time++) await account.bySession.request('GET', '/files');
    expect((await withFault(service, { ...note(), effect: { delayMs: 500 } }, list)).status).toBe(429);
    expect(await lastUse()).not.toBeNull();
  });
});

describe('the checks of a request', () => {
  const list = (query = '') => account.byKey.request('GET', `/files${query}`);
  const limiter = () => ({ match: { table: service.tables.rateLimits } });
  beforeEach(async () => {
    account = await service.newAccount();
  });

  test('read nothing but the credential and the count for a request that the limiter refuses', async () => {
    for (let time = 0; time < LISTS_PER_MINUTE; time++) expect((await list()).status).toBe(200);
    let answer: Awaited<ReturnType<typeof list>> | undefined;
    const calls = await callsOf(async () => {
      answer = await list();
    });
    expect(calls).toEqual(['GetItem apiKeys', 'UpdateItem rateLimits']);
    expect(answer?.status).toBe(429);
    expect(answer?.headers.get('ratelimit')).toMatch(/r=0/);
    expect((await account.byKey.request('GET', `/files/${UNKNOWN_ID}`)).status).toBe(404);
  });

  test('answer a request that cannot be counted with 503, whatever else is wrong with it', async () => {
    const answers = [];
    for (const query of ['', '?page=0']) {
      answers.push(await withFault(service, { ...limiter(), effect: 'throttle' }, () => list(query)));
    }
    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
    expect(answers.map(({ headers }) => headers.get('ratelimit'))).toEqual([null, null]);
  });

  test('count an admitted request that then fails with 503', async () => {
    const read = { match: { table: service.tables.accounts, operation: 'GetItem' }, effect: 'error-before' } as const;
    const { status, headers } = await withFault(service, read, () => list());
    expect(status).toBe(503);
    expect(headers.get('ratelimit')).toMatch(`r=${LISTS_PER_MINUTE - 1};`);
    expect((await list()).status).toBe(200);
  });

  test('count a request with wrong parameters, for which nothing else is read; a refusal by the limiter comes first', async () => {
    const bad = () => list('?page=0');
    expect((await bad()).status).toBe(400);
    expect(await callsOf(bad)).toEqual(['GetItem apiKeys', 'UpdateItem rateLimits']);
    for (let time = 2; time < LISTS_PER_MINUTE; time++) await bad();
    expect((await bad()).status).toBe(429);
    const noId = () => account.byKey.request('GET', '/files/no-id');
    expect((await noId()).status).toBe(404);
    expect(await callsOf(noId)).toEqual(['GetItem apiKeys', 'UpdateItem rateLimits']);
  });

  test('read nothing but the credential when it is not valid', async () => {
    const { id } =
      (await account.bySession.request<{ items: { id: string }[] }>('GET', '/api-keys')).body.items[0] ?? {};
    expect((await account.bySession.request('DELETE', `/api-keys/${id}`)).status).toBe(200);
    expect((await list()).status).toBe(401);
    expect(await callsOf(list)).toEqual(['GetItem apiKeys']);
  });

  test('read nothing but the credential of a request that another site may have sent', async () => {
    const { cookie } = account;
    const remove = () =>
      client(service.urls.base_url).request('DELETE', `/files/${UNKNOWN_ID}`, {
        headers: { cookie, origin: 'https://elsewhere.example' },
      });
    expect((await remove()).status).toBe(403);
    expect(await callsOf(remove)).toEqual(['GetItem sessions']);
  });
});
