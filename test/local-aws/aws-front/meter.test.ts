import { randomUUID } from 'node:crypto';
import {
  BatchGetItemCommand,
  CreateTableCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type ReturnConsumedCapacity,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { expect, onTestFinished, test } from 'vitest';
import { countRounds, createMeter, type MeteredCall } from '../../../local-aws/aws-front/meter.ts';
import { dynamoDbClient as engineClient } from '../../support/tables.ts';
import { ADMIN, BUCKET, dynamoDbClient, failureOf, frontOfFile, principal, s3Client } from './front.ts';

const heard: MeteredCall[] = [];
const front = await frontOfFile({ onCall: (call) => heard.push(call) });
const TABLE = `meter-${randomUUID()}`;
await engineClient().send(
  new CreateTableCommand({
    TableName: TABLE,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'id', AttributeType: 'S' },
      { AttributeName: 'peer', AttributeType: 'S' },
    ],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'by-peer',
        KeySchema: [{ AttributeName: 'peer', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  }),
);
const client = dynamoDbClient(front);
const Key = { id: { S: 'small' } };
const batchKeys = [Key, { id: { S: '-' } }, { id: { S: '--' } }];
const big = { id: { S: 'big' }, data: { S: 'x'.repeat(5_000) } };
await client.send(new PutItemCommand({ TableName: TABLE, Item: Key }));
await client.send(new PutItemCommand({ TableName: TABLE, Item: big }));

const queryByPeer = new QueryCommand({
  TableName: TABLE,
  IndexName: 'by-peer',
  KeyConditionExpression: 'peer = :p',
  ExpressionAttributeValues: { ':p': { S: 'none' } },
});

/** Writes new items, which have these attributes besides their key. */
const transactionOf = (...items: Record<string, { S: string }>[]) =>
  new TransactWriteItemsCommand({
    TransactItems: items.map((item) => ({ Put: { TableName: TABLE, Item: { ...item, id: { S: randomUUID() } } } })),
  });

const onlyIfAbsent = { ConditionExpression: 'attribute_not_exists(id)' };
test.each<[string, (client: DynamoDBClient) => Promise<unknown>, number, number]>([
  ['an eventual read', (c) => c.send(new GetItemCommand({ TableName: TABLE, Key })), 0.5, 0],
  ['a strong read', (c) => c.send(new GetItemCommand({ TableName: TABLE, Key, ConsistentRead: true })), 1, 0],
  [
    'a strong read of 5 KB',
    (c) => c.send(new GetItemCommand({ TableName: TABLE, Key: { id: big.id }, ConsistentRead: true })),
    2,
    0,
  ],
  ['a write', (c) => c.send(new PutItemCommand({ TableName: TABLE, Item: Key })), 0, 1],
  ['a write of 5 KB', (c) => c.send(new PutItemCommand({ TableName: TABLE, Item: big })), 0, 5],
  [
    'a write that is in an index as well',
    (c) => c.send(new PutItemCommand({ TableName: TABLE, Item: { id: { S: 'indexed' }, peer: { S: 'p' } } })),
    0,
    2,
  ],
  ['a transaction of two writes', (c) => c.send(transactionOf({}, {})), 0, 4],
  ['a transaction with a write in an index', (c) => c.send(transactionOf({ peer: { S: 'p' } }, {})), 0, 5],
  [
    'a write whose condition fails',
    (c) => failureOf(c.send(new PutItemCommand({ TableName: TABLE, Item: Key, ...onlyIfAbsent }))),
    0,
    1,
  ],
  [
    'a transaction that is cancelled',
    (c) =>
      failureOf(
        c.send(
          new TransactWriteItemsCommand({ TransactItems: [{ Put: { TableName: TABLE, Item: Key, ...onlyIfAbsent } }] }),
        ),
      ),
    0,
    2,
  ],
  ['a query that finds nothing', (c) => c.send(queryByPeer), 0.5, 0],
  [
    'a read that finds nothing',
    (c) => c.send(new GetItemCommand({ TableName: TABLE, Key: { id: { S: '-' } } })),
    0.5,
    0,
  ],
  [
    'a batch of strong reads that finds one of three items',
    (c) => c.send(new BatchGetItemCommand({ RequestItems: { [TABLE]: { Keys: batchKeys, ConsistentRead: true } } })),
    3,
    0,
  ],
  [
    'a batch of eventual reads that finds one of three items',
    (c) => c.send(new BatchGetItemCommand({ RequestItems: { [TABLE]: { Keys: batchKeys } } })),
    1.5,
    0,
  ],
  ['a deletion of nothing', (c) => c.send(new DeleteItemCommand({ TableName: TABLE, Key: { id: { S: '-' } } })), 0, 1],
])('%s costs what DynamoDB charges', async (_, call, readUnits, writeUnits) => {
  const mark = front.meter.mark();
  await call(client);
  const reading = front.meter.since(mark);
  expect(reading).toMatchObject({ readUnits, writeUnits, rounds: 1 });
  expect(reading.calls).toMatchObject([
    { service: 'dynamodb', tables: [TABLE], principal: 'admin', readUnits, writeUnits },
  ]);
});

test.each<[string, ReturnConsumedCapacity | undefined, object | undefined]>([
  ['does not set ReturnConsumedCapacity gets no cost', undefined, undefined],
  ['sets ReturnConsumedCapacity to NONE gets no cost', 'NONE', undefined],
  ['sets ReturnConsumedCapacity to TOTAL gets the cost in all', 'TOTAL', { TableName: TABLE, CapacityUnits: 1 }],
  [
    'sets ReturnConsumedCapacity to INDEXES gets the cost of the table and of its indexes',
    'INDEXES',
    { TableName: TABLE, CapacityUnits: 1, Table: { CapacityUnits: 1 } },
  ],
])('a caller that %s', async (_name, ReturnConsumedCapacity, expected) => {
  const write = new UpdateItemCommand({
    TableName: TABLE,
    Key,
    ...(ReturnConsumedCapacity && { ReturnConsumedCapacity }),
  });
  expect((await client.send(write)).ConsumedCapacity).toEqual(expected);
});

test('calls count as several rounds when one waits for the other', async () => {
  const delay = front.faults.add({ match: {}, effect: { delayMs: 100 } });
  onTestFinished(() => delay.remove());
  const mark = front.meter.mark();
  const read = () => client.send(new GetItemCommand({ TableName: TABLE, Key }));
  await Promise.all([read(), read(), read()]);
  await read();
  await Promise.all([read(), read()]);
  expect(front.meter.since(mark)).toMatchObject({ rounds: 3, readUnits: 3 });
});

test('a meter forgets old calls, and refuses to sum up calls that it has forgotten', () => {
  const meter = createMeter();
  const call = {
    service: 's3',
    operation: 'PutObject',
    tables: [],
    principal: 'p',
    status: 200,
    consumed: [],
  } as const;
  const first = meter.mark();
  for (let count = 0; count < 5_000; count++) meter.end(meter.begin(), call);
  expect(() => meter.since(first)).toThrow('the meter keeps 2000 calls, and there were more since');
  const latest = meter.mark();
  meter.end(meter.begin(), call);
  expect(meter.since(latest).calls).toHaveLength(1);
});

test('onCall is called with every call and its status, including calls of S3 and refused ones', async () => {
  heard.splice(0);
  await s3Client(front).send(new PutObjectCommand({ Bucket: BUCKET, Key: 'k', Body: 'x' }));
  const stranger = principal('stranger');
  front.addPrincipal(stranger);
  await failureOf(dynamoDbClient(front, stranger).send(new GetItemCommand({ TableName: TABLE, Key })));
  expect(heard).toMatchObject([
    { service: 's3', operation: 'PutObject', principal: ADMIN.name, status: 200, consumed: [] },
    { service: 'dynamodb', operation: 'GetItem', principal: 'stranger', status: 400, readUnits: 0 },
  ]);
});

test.each<[string, [number, number][], number]>([
  ['no calls', [], 0],
  ['one call', [[1, 2]], 1],
  [
    'two calls at once',
    [
      [1, 3],
      [2, 4],
    ],
    1,
  ],
  [
    'one call after the other',
    [
      [1, 2],
      [3, 4],
    ],
    2,
  ],
  [
    'two short calls beside a long one',
    [
      [1, 6],
      [2, 3],
      [4, 5],
    ],
    2,
  ],
  [
    'a chain of calls that begins while another call runs',
    [
      [1, 4],
      [2, 3],
      [5, 6],
    ],
    2,
  ],
])('the meter counts the rounds of %s', (_, spans, rounds) => {
  expect(countRounds(spans.map(([startedAt, endedAt]) => ({ startedAt, endedAt })))).toBe(rounds);
});
