import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { cached } from '../../shared/aws/cached.ts';
import { dynamoDb } from '../../shared/aws/dynamodb.ts';
import { briefly, checkDeadline, deadlineOf, inTime, limited, TIDYING_MS } from '../../shared/time-limit.ts';
import { startAws } from '../support/aws.ts';

const { front, tables, operations } = await startAws();

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

const read = () => dynamoDb.send(new GetCommand({ TableName: tables.accounts, Key: { id: 'x' } }));
const soon = () => Date.now() + 300;
const addSilence = (more: { mayNotApply?: true } = {}) => front.faults.add({ match: {}, effect: 'timeout', ...more });
const calls = (count: number) => expect.poll(() => operations()).toEqual(Array(count).fill('GetItem'));
const TIMEOUT = { code: 'timeout' };

describe('work whose time is over', () => {
  test('has its call aborted, and begins no other, even when it catches the error', async () => {
    addSilence();
    const work = limited(soon(), async () => {
      await read().catch(() => {});
      return read();
    });
    await calls(1);
    vi.advanceTimersByTime(300);
    await expect(work).rejects.toMatchObject(TIMEOUT);
    expect(operations()).toEqual(['GetItem']);
  });

  test('ends the retries of the SDK as well', async () => {
    vi.useRealTimers();
    // The first is refused at once, the second is on its way when the work ends.
    front.faults.add({ match: {}, effect: 'throttle', times: 1 });
    addSilence();
    const left = await limited(Date.now() + 60_000, async () => {
      const call = read();
      await calls(2);
      return [call] as const;
    });
    // The promise of the SDK settles when it makes no further attempt.
    await expect(left[0]).rejects.toMatchObject(TIMEOUT);
    expect(operations()).toEqual(['GetItem', 'GetItem']);
  });

  test('stops waiting', async () => {
    const work = limited(soon(), () => inTime(new Promise(() => {})));
    vi.advanceTimersByTime(300);
    await expect(work).rejects.toMatchObject(TIMEOUT);
  });
});

test('calls that work leaves unfinished are aborted when it ends, and no new ones begin', async () => {
  // The first call may be aborted before it reaches the front.
  addSilence({ mayNotApply: true });
  const later = Promise.withResolvers<void>();
  const left = await limited(soon(), async () => [read(), later.promise.then(read)] as const);
  later.resolve();
  await expect(left[0]).rejects.toMatchObject(TIMEOUT);
  await expect(left[1]).rejects.toMatchObject(TIMEOUT);
  expect(operations().length).toBeLessThan(2);
});

test('a read for several requests goes on when the request that began it ends', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const reader = cached(() => promise, { keepMs: 1_000 });
  const first = limited(Date.now() + 50, () => reader());
  const second = limited(Date.now() + 51, () => reader());
  vi.advanceTimersByTime(50);
  await expect(first).rejects.toMatchObject(TIMEOUT);
  resolve('read');
  expect(await second).toBe('read');
});

test('work that only tidies up ends in time, and within the limit of its request', async () => {
  addSilence();
  const tidy = () => briefly(async () => void (await read()));
  const alone = tidy();
  await calls(1);
  vi.advanceTimersByTime(TIDYING_MS);
  await expect(alone).rejects.toMatchObject(TIMEOUT);
  const inRequest = limited(soon(), tidy);
  await calls(2);
  vi.advanceTimersByTime(300);
  await expect(inRequest).rejects.toMatchObject(TIMEOUT);
});

test('the deadline of an invocation leaves time for a last call, for giving a lease back and for the answer', () => {
  const invocation = { getRemainingTimeInMillis: () => 28_000 };
  expect(deadlineOf(invocation).deadlineAt - Date.now()).toBe(21_500);
  expect(() => checkDeadline(deadlineOf(invocation))).not.toThrow();
  expect(() => checkDeadline({ deadlineAt: Date.now() })).toThrow('the deadline has passed');
});
