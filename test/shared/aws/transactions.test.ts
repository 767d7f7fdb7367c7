import { GetItemCommand, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { TransactWriteItem } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import type { FaultEffect } from '../../../local-aws/aws-front/faults.ts';
import { ATTEMPTS } from '../../../shared/aws/call-times.ts';
import { failedConditions, transact } from '../../../shared/aws/transactions.ts';
import { cancelled, dynamoDbError, startAws } from '../../support/aws.ts';

const { front, engine, tables, operations } = await startAws();

/** Adds one to a counter, so that a test sees whether it was applied twice. */
const addOne = (id: string): TransactWriteItem => ({
  Update: {
    TableName: tables.accounts,
    Key: { id },
    UpdateExpression: 'ADD key_count :one',
    ExpressionAttributeValues: { ':one': 1 },
  },
});

const ifAbsent = (id: string): TransactWriteItem => ({
  Put: { TableName: tables.accounts, Item: { id }, ConditionExpression: 'attribute_not_exists(id)' },
});

async function count(id: string): Promise<string | undefined> {
  const { Item } = await engine.send(new GetItemCommand({ TableName: tables.accounts, Key: { id: { S: id } } }));
  return Item?.key_count?.N;
}

const inTime = () => ({ deadlineAt: Date.now() + 20_000 });

const add = (effect: FaultEffect, times: number | 'always' = 'always') =>
  front.faults.add({ match: { operation: 'TransactWriteItems' }, effect, times });

describe('a transaction', () => {
  test.each<[string, FaultEffect]>([
    ['meets another writer', 'conflict'],
    ['meets a busy partition and another writer', cancelled('ThrottlingError', 'TransactionConflict')],
  ])('a transaction that %s three times is written at the fourth attempt', async (_, effect) => {
    const id = crypto.randomUUID();
    add(effect, 3);
    await transact([addOne(id)], inTime());
    expect(operations()).toHaveLength(4);
    expect(await count(id)).toBe('1');
  });

  test('a transaction is written once although its answer is lost', async () => {
    const id = crypto.randomUUID();
    add('cut-after', 1);
    await transact([addOne(id)], inTime());
    expect(operations()).toHaveLength(2);
    expect(await count(id)).toBe('1');
  });

  test('a transaction is written once although its answer is lost and the next attempt meets another writer', async () => {
    const id = crypto.randomUUID();
    add('cut-after', 1);
    add('conflict', 1);
    await transact([addOne(id)], inTime());
    expect(operations()).toHaveLength(3);
    expect(await count(id)).toBe('1');
  });

  test('a transaction that meets other writers until its deadline is service_unavailable, and is not written', async () => {
    const id = crypto.randomUUID();
    add('conflict');
    await expect(transact([addOne(id)], { deadlineAt: Date.now() + 200 })).rejects.toMatchObject({
      code: 'service_unavailable',
      headers: { 'Retry-After': '1' },
    });
    expect(await count(id)).toBeUndefined();
  });

  test('is not tried at all when its deadline has passed', async () => {
    const id = crypto.randomUUID();
    await expect(transact([addOne(id)], { deadlineAt: Date.now() })).rejects.toMatchObject({ code: 'timeout' });
    expect(operations()).toEqual([]);
  });

  test('ends at most one call after its deadline when it gets no answer, even if the SDK has retries left', async () => {
    add('timeout');
    const work = transact([addOne(crypto.randomUUID())], { deadlineAt: Date.now() + 500 });
    await expect(work).rejects.toMatchObject({ code: 'service_unavailable', headers: { 'Retry-After': '1' } });
    // The first attempt lasts for the time of one call, so the last one of the SDK would begin too late.
    expect(operations().length).toBeLessThan(ATTEMPTS);
  });

  test.each([
    ['throttled as a whole', dynamoDbError('ThrottlingException')],
    ['cut off', 'cut'],
  ] as const)('a transaction that is %s at every attempt of the SDK is service_unavailable', async (_, effect) => {
    add(effect);
    await expect(transact([addOne(crypto.randomUUID())], inTime())).rejects.toMatchObject({
      code: 'service_unavailable',
    });
  });

  test('is not tried again when a condition fails, and names the condition', async () => {
    const id = crypto.randomUUID();
    await transact([ifAbsent(id)], inTime());
    const mark = front.meter.mark();
    const error: unknown = await transact([addOne('other'), ifAbsent(id)], inTime()).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(TransactionCanceledException);
    expect(failedConditions(error)).toEqual([undefined, {}]);
    expect(operations(mark)).toHaveLength(1);
  });

  test('a transaction with a failed condition beside a conflict is not tried again', async () => {
    add(cancelled('TransactionConflict', 'ConditionalCheckFailed'));
    await expect(transact([addOne('a'), addOne('b')], inTime())).rejects.toBeInstanceOf(TransactionCanceledException);
    expect(operations()).toHaveLength(1);
  });
});

test('an error that is not a cancellation names no failed conditions', () => {
  expect(failedConditions(new Error('x'))).toEqual([]);
});
