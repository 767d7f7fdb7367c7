import { createHash } from 'node:crypto';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { FaultEffect, FaultSubject } from '../../../local-aws/aws-front/faults.ts';
import { SESSIONS_PER_ACCOUNT_MAX } from '../../../shared/contract/limits.ts';
import { endSession, findSession, startSession } from '../../../shared/sessions/session.ts';
import { dynamoDbError, startAws } from '../../support/aws.ts';
import { bePatient } from '../../support/patient-clients.ts';
import { putAccount } from '../../support/tables.ts';

const { front, engine, tables, operations } = await startAws();
const { sessionStore: sessions } = await import('../../../shared/aws/session-store.ts');
bePatient((await import('../../../shared/aws/dynamodb.ts')).dynamoDb);

const LOGIN = Date.UTC(2026, 10, 21, 12);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const newAccount = () => putAccount(engine, tables);

const startAt = (now: number, accountId: string) => startSession(sessions, { accountId, userAgent: '' }, () => now);

async function start(accountId?: string): Promise<string> {
  const id = accountId ?? (await newAccount());
  return startAt(LOGIN, id);
}
const find = (token: string, now = LOGIN) => findSession(sessions, token, () => now);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('a session ends', () => {
  test.each([
    ['7 days after login without a request', [], 7 * DAY_MS],
    ['7 days after its last refresh', [3 * DAY_MS, 9 * DAY_MS], 16 * DAY_MS],
    ['30 days after login, however busy', [5, 10, 15, 20, 25, 29.9].map((days) => days * DAY_MS), 30 * DAY_MS],
    ['7 days after login, because a request in the first hour does not refresh it', [HOUR_MS - 1_000], 7 * DAY_MS],
    ['an hour later when a request comes an hour after login', [HOUR_MS], 7 * DAY_MS + HOUR_MS],
  ])('%s', async (_, requests, end) => {
    const token = await start();
    for (const after of requests) expect(await find(token, LOGIN + after)).toBeDefined();
    // Read from the row, because `find` could refresh the session.
    expect((await sessions.find(sha256(token)))?.expiresAt).toBe(LOGIN + end);
    expect(await find(token, LOGIN + end)).toBeUndefined();
    expect(await find(token, LOGIN + end - 1_000)).toBeDefined();
  });

  test('a late refresh does not bring an ended session back', async () => {
    const token = await start();
    await endSession(sessions, token);
    await sessions.refresh({ tokenHash: sha256(token), refreshedAt: LOGIN, expiresAt: LOGIN + DAY_MS });
    await expect(sessions.find(sha256(token))).resolves.toBeUndefined();
  });
});

test('a late refresh does not shorten the session', async () => {
  const token = await start();
  const tokenHash = sha256(token);
  await find(token, LOGIN + 2 * DAY_MS);
  await sessions.refresh({ tokenHash, refreshedAt: LOGIN + 60_000, expiresAt: LOGIN + 120_000 });
  expect((await sessions.find(tokenHash))?.expiresAt).toBe(LOGIN + 9 * DAY_MS);
});

test('a request costs one read, and one write an hour', async () => {
  const token = await start();
  const costs = [];
  for (const after of [0, HOUR_MS - 1_000, HOUR_MS, HOUR_MS + 1_000, 2 * HOUR_MS]) {
    const mark = front.meter.mark();
    await find(token, LOGIN + after);
    costs.push(operations(mark).join(' '));
  }
  expect(costs).toEqual(['GetItem', 'GetItem', 'GetItem UpdateItem', 'GetItem', 'GetItem UpdateItem']);
});

test('the use of a session is also noted in its last days, when no request can prolong it', async () => {
  const token = await start();
  for (const days of [6, 12, 18, 24, 29, 29.5]) await find(token, LOGIN + days * DAY_MS);
  const noted = { refreshedAt: LOGIN + 29.5 * DAY_MS, expiresAt: LOGIN + 30 * DAY_MS };
  expect(await sessions.find(sha256(token))).toMatchObject(noted);
});

describe('ending every session of an account', () => {
  /** For each of these sessions: whether it still exists. */
  const areThere = (tokens: string[]) =>
    Promise.all(tokens.map(async (token) => (await sessions.find(sha256(token))) !== undefined));

  test('can be repeated by the session that asked for it, if it failed on the way', async () => {
    const accountId = await newAccount();
    const [own, other] = [await start(accountId), await start(accountId)];
    const isOther = ({ input = {} }: FaultSubject) => JSON.stringify(input).includes(sha256(other));
    const match = { operation: 'DeleteItem', predicate: isOther };
    const fault = front.faults.add({ match, effect: 'throttle' });
    const removal = sessions.removeAll(accountId, { last: sha256(own) });
    await expect(removal).rejects.toMatchObject({ code: 'service_unavailable' });
    fault.remove();
    expect(await areThere([own, other])).toEqual([true, true]);
    expect(await sessions.removeAll(accountId, { last: sha256(own) })).toBe(2);
  });

  test('leaves the list of a login that came before the list was removed, so that a repetition ends its session', async () => {
    const accountId = await newAccount();
    await start(accountId);
    const loggedIn = Promise.withResolvers<void>();
    const isList = ({ input = {} }: FaultSubject) => JSON.stringify(input).includes(`account#${accountId}`);
    const fault = front.faults.add({
      match: { operation: 'DeleteItem', predicate: isList },
      effect: { lateBy: loggedIn.promise },
      times: 1,
    });
    await sessions.removeAll(accountId);
    const token = await start(accountId);
    loggedIn.resolve();
    await fault.lateAnswers();
    expect(await sessions.removeAll(accountId)).toBe(1);
    expect(await areThere([token])).toEqual([false]);
  });
});

test('ten simultaneous logins are ten sessions, and all of them are found', async () => {
  const accountId = await newAccount();
  // A login gives up after five seconds, so the clock stands still.
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  await Promise.all(Array.from({ length: 10 }, () => start(accountId)));
  expect(await sessions.live(accountId, LOGIN)).toHaveLength(10);
});

test('an account has at most a hundred sessions: one more ends the oldest', async () => {
  const accountId = await newAccount();
  const tokens: string[] = [];
  for (let index = 0; index <= SESSIONS_PER_ACCOUNT_MAX; index++)
    tokens.push(await startAt(LOGIN + index * 1_000, accountId));
  const found = await Promise.all(tokens.map((token) => find(token, LOGIN + HOUR_MS)));
  expect(found.map((session) => session !== undefined)).toEqual([false, ...tokens.slice(1).map(() => true)]);
});

test('logins that have ended do not count for the hundred, and are no longer listed', async () => {
  const accountId = await newAccount();
  await startAt(LOGIN - 8 * DAY_MS, accountId);
  const idle = await startAt(LOGIN + HOUR_MS / 2 - 7 * DAY_MS, accountId);
  const first = await start(accountId);
  for (let index = 0; index <= SESSIONS_PER_ACCOUNT_MAX; index++)
    await endSession(sessions, await startAt(LOGIN + index * 1_000, accountId));
  const last = await startAt(LOGIN + HOUR_MS, accountId);
  const found = await Promise.all([idle, first, last].map((token) => find(token, LOGIN + HOUR_MS)));
  expect(found.map((session) => session?.accountId)).toEqual([undefined, accountId, accountId]);
  // A late refresh may bring back the one that ended half an hour ago, so all ways to end sessions must still find it.
  const listed = { TableName: tables.sessions, Key: { token_hash: { S: `account#${accountId}` } } };
  const { Item } = await engine.send(new GetItemCommand(listed));
  expect(Item?.hashes?.SS?.toSorted()).toEqual([idle, first, last].map(sha256).toSorted());
});

test.each([
  ['an empty text', ''],
  ['one character more than a token has', 'a'.repeat(44)],
  ['a character that no token has', `${'a'.repeat(42)}-`],
  ['a line break after a token', `${'a'.repeat(43)}\n`],
])('a cookie that holds %s instead of a token is refused without a read', async (_name, text) => {
  expect(await find(text)).toBeUndefined();
  await endSession(sessions, text);
  expect(operations()).toEqual([]);
});

test.each<[string, FaultEffect]>([
  ['is throttled', 'throttle'],
  ['meets a transaction', 'conflict'],
  ['fails in a way that was not foreseen', dynamoDbError('ValidationException')],
  ['is not answered', 'timeout'],
])('a session stays valid when its refresh %s', async (_, effect) => {
  const token = await start();
  front.faults.add({ match: { operation: 'UpdateItem' }, effect });
  expect(await find(token, LOGIN + DAY_MS)).toBeDefined();
});

test('a logout that meets a transaction waits for it', async () => {
  const token = await start();
  front.faults.add({ match: { operation: 'DeleteItem' }, effect: 'conflict', times: 2 });
  await endSession(sessions, token);
  expect(await find(token)).toBeUndefined();
});

test('sessions that cannot be read are service_unavailable, not logged out', async () => {
  const token = await start();
  front.faults.add({ match: {}, effect: 'throttle' });
  await expect(find(token)).rejects.toMatchObject({ code: 'service_unavailable' });
});
