import { setTimeout as sleep } from 'node:timers/promises';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { cached } from '../../shared/aws/cached.ts';
import { dynamoDb } from '../../shared/aws/dynamodb.ts';
import { briefly, checkDeadline, deadlineOf, inTime, limited, TIDYING_MS } from '../../shared/time-limit.ts';
import { dynamoDbError, startDynamoDbProxy } from '../support/dynamodb-proxy.ts';
import { createTables, dynamoDbClient } from '../support/tables.ts';

const tables = await createTables(dynamoDbClient());
const proxy = await startDynamoDbProxy();

beforeEach(() => {
  proxy.calls.length = 0;
});

const read = () => dynamoDb.send(new GetCommand({ TableName: tables.accounts, Key: { id: 'x' } }));
const soon = () => Date.now() + 300;
const TIMEOUT = { code: 'timeout' };

describe('work whose time is over', () => {
  test('has its call aborted, and begins no other, even when it catches the error', async () => {
    proxy.setFault(() => 'timeout');
    const work = limited(soon(), async () => {
      await read().catch(() => {});
      return read();
    });
    await expect(work).rejects.toMatchObject(TIMEOUT);
    expect(proxy.calls).toEqual(['GetItem']);
  });

  test('ends the retries of the SDK as well', async () => {
    // The first is refused at once, the second is on its way when the time is over.
    proxy.setFault(() => (proxy.calls.length === 1 ? dynamoDbError('ThrottlingException') : 'timeout'));
    await expect(limited(Date.now() + 1_500, read)).rejects.toMatchObject(TIMEOUT);
    await sleep(500);
    expect(proxy.calls).toEqual(['GetItem', 'GetItem']);
  });

  test('stops waiting', async () => {
    await expect(limited(soon(), () => inTime(new Promise(() => {})))).rejects.toMatchObject(TIMEOUT);
  });
});

test('calls that work leaves unfinished are aborted when it ends, and no new ones begin', async () => {
  // The first call may be aborted before it reaches the proxy.
  proxy.setFault(() => 'timeout', { mayNotApply: true });
  const left = await limited(Date.now() + 20_000, async () => [read(), sleep(50).then(read)] as const);
  await expect(left[0]).rejects.toMatchObject(TIMEOUT);
  await expect(left[1]).rejects.toMatchObject(TIMEOUT);
  expect(proxy.calls.length).toBeLessThan(2);
});

test('a read for several requests goes on when the request that began it ends', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const reader = cached(() => promise, { keepMs: 1_000 });
  const first = limited(Date.now() + 50, () => reader());
  const second = limited(Date.now() + 20_000, () => reader());
  await expect(first).rejects.toMatchObject(TIMEOUT);
  resolve('read');
  expect(await second).toBe('read');
});

test('work that only tidies up ends in time, and within the limit of its request', async () => {
  proxy.setFault(() => 'timeout');
  const tidy = () => briefly(async () => void (await read()));
  const startedAt = Date.now();
  await expect(tidy()).rejects.toMatchObject(TIMEOUT);
  expect(Date.now() - startedAt).toBeLessThan(TIDYING_MS + 500);
  await expect(limited(soon(), tidy)).rejects.toMatchObject(TIMEOUT);
  expect(Date.now() - startedAt).toBeLessThan(TIDYING_MS + 1_500);
});

test('the deadline of an invocation leaves time for a last call, for giving a lease back and for the answer', () => {
  const invocation = { getRemainingTimeInMillis: () => 28_000 };
  expect(deadlineOf(invocation).deadlineAt - Date.now()).toBeCloseTo(21_500, -2);
  expect(() => checkDeadline(deadlineOf(invocation))).not.toThrow();
  expect(() => checkDeadline({ deadlineAt: Date.now() })).toThrow('the deadline has passed');
});
