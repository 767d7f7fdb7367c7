import { GetItemCommand, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { TransactWriteItem } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { ATTEMPTS } from '../../../shared/aws/call-times.ts';
import { failedConditions, transact } from '../../../shared/aws/transactions.ts';
import { cancelled, dynamoDbError, type ProxyFault, startDynamoDbProxy } from '../../support/dynamodb-proxy.ts';
import { createTables, dynamoDbClient } from '../../support/tables.ts';

const engine = dynamoDbClient();
const tables = await createTables(engine);
const proxy = await startDynamoDbProxy();

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

function first(times: number, fault: ProxyFault): void {
  let left = times;
  proxy.setFault(() => (left-- > 0 ? fault : undefined));
}

describe('a transaction', () => {
  test.each([
    ['meets another writer', cancelled('None', 'TransactionConflict')],
    ['meets a busy partition', cancelled('ThrottlingError', 'TransactionConflict')],
  ])('a transaction that %s three times is written at the fourth attempt', async (_, fault) => {
    const id = crypto.randomUUID();
    first(3, fault);
    await transact([addOne(id)], inTime());
    expect(proxy.calls).toHaveLength(4);
    expect(await count(id)).toBe('1');
  });

  test('a transaction is written once although its answer is lost', async () => {
    const id = crypto.randomUUID();
    first(1, 'cut-after');
    await transact([addOne(id)], inTime());
    expect(proxy.calls).toHaveLength(2);
    expect(await count(id)).toBe('1');
  });

  test('a transaction is written once although its answer is lost and the next attempt meets another writer', async () => {
    const id = crypto.randomUUID();
    const faults: ProxyFault[] = ['cut-after', cancelled('TransactionConflict')];
    proxy.setFault(() => faults.shift());
    await transact([addOne(id)], inTime());
    expect(proxy.calls).toHaveLength(3);
    expect(await count(id)).toBe('1');
  });

  test('a transaction that meets other writers until its deadline is service_unavailable, and is not written', async () => {
    const id = crypto.randomUUID();
    proxy.setFault(() => cancelled('TransactionConflict'));
    await expect(transact([addOne(id)], { deadlineAt: Date.now() + 200 })).rejects.toMatchObject({
      code: 'service_unavailable',
      headers: { 'Retry-After': '1' },
    });
    expect(await count(id)).toBeUndefined();
  });

  test('is not tried at all when its deadline has passed', async () => {
    const id = crypto.randomUUID();
    await expect(transact([addOne(id)], { deadlineAt: Date.now() })).rejects.toMatchObject({ code: 'timeout' });
    expect(proxy.calls).toEqual([]);
  });

  test('ends at most one call after its deadline when it gets no answer, even if the SDK has retries left', async () => {
    proxy.setFault(() => 'timeout');
    const work = transact([addOne(crypto.randomUUID())], { deadlineAt: Date.now() + 500 });
    await expect(work).rejects.toMatchObject({ code: 'service_unavailable', headers: { 'Retry-After': '1' } });
    // The first attempt lasts for the time of one call, so the last one of the SDK would begin too late.
    expect(proxy.calls.length).toBeLessThan(ATTEMPTS);
  });

  test.each([
    ['throttled as a whole', dynamoDbError('ThrottlingException')],
    ['cut off', 'cut'],
  ] as const)('a transaction that is %s at every attempt of the SDK is service_unavailable', async (_, fault) => {
    proxy.setFault(() => fault);
    await expect(transact([addOne(crypto.randomUUID())], inTime())).rejects.toMatchObject({
      code: 'service_unavailable',
    });
  });

  test('is not tried again when a condition fails, and names the condition', async () => {
    const id = crypto.randomUUID();
    await transact([ifAbsent(id)], inTime());
    proxy.calls.length = 0;
    const error: unknown = await transact([addOne('other'), ifAbsent(id)], inTime()).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(TransactionCanceledException);
    expect(failedConditions(error)).toEqual([undefined, {}]);
    expect(proxy.calls).toHaveLength(1);
  });

  test('a transaction with a failed condition beside a conflict is not tried again', async () => {
    proxy.setFault(() => cancelled('TransactionConflict', 'ConditionalCheckFailed'));
    await expect(transact([addOne('a'), addOne('b')], inTime())).rejects.toBeInstanceOf(TransactionCanceledException);
    expect(proxy.calls).toHaveLength(1);
  });
});

test('an error that is not a cancellation names no failed conditions', () => {
  expect(failedConditions(new Error('x'))).toEqual([]);
});
