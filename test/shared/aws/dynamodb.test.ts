import { ConditionalCheckFailedException, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { dynamoDbError, startAws } from '../../support/aws.ts';

const { front, engine, tables, operations } = await startAws();
const { dynamoDb, dynamoDbOnce, foundItem } = await import('../../../shared/aws/dynamodb.ts');
const { failedConditions, transact } = await import('../../../shared/aws/transactions.ts');

const TableName = tables.accounts;
const isAbsent = {
  ConditionExpression: 'attribute_not_exists(id)',
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
} as const;

const put = (id: string, value: unknown) => dynamoDb.send(new PutCommand({ TableName, Item: { id, value } }));
const get = async (id: string) => (await dynamoDb.send(new GetCommand({ TableName, Key: { id } }))).Item;

/** The item that exists, as the error of a failed write contains it. */
async function foundByWrite(id: string) {
  const error = await dynamoDb.send(new PutCommand({ TableName, Item: { id }, ...isAbsent })).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ConditionalCheckFailedException);
  return foundItem(error);
}

/** The item that exists, as the error of a cancelled transaction contains it. */
async function foundByTransaction(id: string) {
  const items = [{ Put: { TableName, Item: { id: `${id}2` } } }, { Put: { TableName, Item: { id }, ...isAbsent } }];
  const error = await transact(items, { deadlineAt: Date.now() + 10_000 }).catch((thrown) => thrown);
  const [other, found] = failedConditions(error);
  expect(other).toBeUndefined();
  return found;
}

const READERS = [
  ['a read', get],
  ['a failed write', foundByWrite],
  ['a cancelled transaction', foundByTransaction],
] as const;

describe.each(READERS)('%s', (_, read) => {
  test('returns texts, whole numbers, booleans, lists, maps and sets as they were written', async () => {
    const id = crypto.randomUUID();
    const value = {
      text: 'ä 📷',
      empty: '',
      largest: Number.MAX_SAFE_INTEGER,
      smallest: Number.MIN_SAFE_INTEGER,
      bitmap: 2n ** 64n - 1n,
      negative: -(2n ** 53n) - 1n,
      flag: false,
      list: [0, 1],
      map: {},
      set: new Set(['a']),
    };
    await put(id, value);
    expect(await read(id)).toEqual({ id, value });
  });

  test.each(['0.5', '9007199254740993.5', '1e-130', '1e125'])(
    'fails for the number %s, which is not whole or too large',
    async (N) => {
      const id = crypto.randomUUID();
      await engine.send(new PutItemCommand({ TableName, Item: { id: { S: id }, value: { M: { deep: { N } } } } }));
      await expect(read(id)).rejects.toThrow('not a whole number that we can hold');
    },
  );
});

test('a condition that fails because there is no item returns no item', async () => {
  const exists = {
    ConditionExpression: 'attribute_exists(id)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  } as const;
  const id = crypto.randomUUID();
  const command = new PutCommand({ TableName, Item: { id }, ...exists });
  expect(foundItem(await dynamoDb.send(command).catch((thrown) => thrown))).toBeUndefined();
  const transaction = transact([{ Put: { TableName, Item: { id }, ...exists } }], { deadlineAt: Date.now() + 10_000 });
  expect(failedConditions(await transaction.catch((thrown) => thrown))).toEqual([{}]);
});

test.each([
  ['a number that JavaScript cannot hold', 2 ** 53],
  ['a number below the range of JavaScript', -(2 ** 53)],
  ['the number NaN', Number.NaN],
  ['an infinite number', Number.POSITIVE_INFINITY],
  ['an empty set', new Set()],
  ['a map with an undefined attribute', { inner: undefined }],
  ['a list with an undefined member', [undefined]],
  ['a set with an undefined member', new Set(['a', undefined])],
  ['an instance of a class', new Date()],
])('a write of %s throws before anything is sent', async (_, value) => {
  await expect(put('x', value)).rejects.toThrow();
  const transaction = new TransactWriteCommand({ TransactItems: [{ Put: { TableName, Item: { id: 'x', value } } }] });
  await expect(dynamoDb.send(transaction)).rejects.toThrow();
  expect(operations()).toEqual([]);
});

test('a command that is sent twice writes the same item both times', async () => {
  const command = new PutCommand({ TableName, Item: { id: crypto.randomUUID(), value: { set: new Set(['a']) } } });
  for (const _ of [1, 2]) await dynamoDb.send(command);
  expect(await get(command.input.Item?.id)).toEqual(command.input.Item);
});

test('the document client silently leaves out an undefined attribute, so the type Item forbids one', async () => {
  const id = crypto.randomUUID();
  await put(id, undefined);
  const { Item } = await engine.send(new GetItemCommand({ TableName, Key: { id: { S: id } } }));
  expect(Item).toEqual({ id: { S: id } });
});

test('after a lost connection a call is tried again, but not by the client that never retries', async () => {
  const command = new GetCommand({ TableName, Key: { id: crypto.randomUUID() } });
  front.faults.add({ match: {}, effect: 'cut' });
  for (const [client, attempts] of [
    [dynamoDb, 3],
    [dynamoDbOnce, 1],
  ] as const) {
    const mark = front.meter.mark();
    await expect(client.send(command)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(operations(mark)).toHaveLength(attempts);
  }
});

test.each([
  ['Signature expired: 20261126T120000Z is now earlier than 20261126T120500Z', 'service_unavailable'],
  ['Signature not yet current: 20261126T121000Z is still later than 20261126T120500Z', 'service_unavailable'],
  ['The request signature we calculated does not match the signature you provided.', undefined],
])('after a step of the clock another attempt may succeed, unlike with a wrong key: %s', async (Message, code) => {
  const command = new GetCommand({ TableName, Key: { id: crypto.randomUUID() } });
  front.faults.add({ match: {}, effect: dynamoDbError('InvalidSignatureException', { Message }) });
  for (const client of [dynamoDb, dynamoDbOnce]) {
    const error = await client.send(command).catch((thrown) => thrown);
    expect([error.code, (error.cause ?? error).name]).toEqual([code, 'InvalidSignatureException']);
  }
});

test('calls with and without retries share one pool of connections', () => {
  expect(dynamoDbOnce.config.requestHandler).toBe(dynamoDb.config.requestHandler);
});
