import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  ExecuteStatementCommand,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { beforeEach, expect, test } from 'vitest';
import type { Grant } from '../../../local-aws/aws-front/gate.ts';
import { ACCOUNT, allow, createTable, dynamoDbClient, failureOf, frontOfFile, principal } from './front.ts';

const denied: Grant[] = [];
beforeEach(() => void denied.splice(0));
const front = await frontOfFile({ onDenied: (grant) => denied.push(grant) });
const [TABLE, OTHER] = [await createTable(), await createTable()];
const tableArn = (name: string) => `arn:aws:dynamodb:${ACCOUNT.region}:${ACCOUNT.accountId}:table/${name}`;

function clientWith(actions: string[], resources: string[]): DynamoDBClient {
  const user = principal('user', allow(actions, resources));
  front.addPrincipal(user);
  return dynamoDbClient(front, user);
}
const unrelated = clientWith(['dynamodb:ListTables'], ['*']);

const Key = { id: { S: '1' } };
const query = { ExpressionAttributeValues: { ':id': { S: '1' } }, KeyConditionExpression: 'id = :id' };
const OPERATIONS: [string, (client: DynamoDBClient) => Promise<unknown>][] = [
  ['GetItem', (client) => client.send(new GetItemCommand({ TableName: TABLE, Key }))],
  ['PutItem', (client) => client.send(new PutItemCommand({ TableName: TABLE, Item: Key }))],
  ['UpdateItem', (client) => client.send(new UpdateItemCommand({ TableName: TABLE, Key }))],
  ['DeleteItem', (client) => client.send(new DeleteItemCommand({ TableName: TABLE, Key }))],
  ['Query', (client) => client.send(new QueryCommand({ TableName: TABLE, ...query }))],
  ['Scan', (client) => client.send(new ScanCommand({ TableName: TABLE }))],
  ['BatchGetItem', (client) => client.send(new BatchGetItemCommand({ RequestItems: { [TABLE]: { Keys: [Key] } } }))],
  [
    'BatchWriteItem',
    (client) => client.send(new BatchWriteItemCommand({ RequestItems: { [TABLE]: [{ PutRequest: { Item: Key } }] } })),
  ],
];

test.each(OPERATIONS)('%s needs exactly its own permission', async (operation, call) => {
  const [action, resource] = [`dynamodb:${operation}`, tableArn(TABLE)];
  await call(clientWith([action], [resource]));
  expect(await failureOf(call(unrelated))).toEqual({ name: 'AccessDeniedException', status: 400 });
  expect(denied).toEqual([{ principal: 'user', action, resource }]);
  expect((await failureOf(call(clientWith([action], [tableArn(OTHER)])))).name).toBe('AccessDeniedException');
});

test('a query of an index needs a permission on the index, not on the table', async () => {
  const call = (client: DynamoDBClient) =>
    client.send(new QueryCommand({ TableName: TABLE, IndexName: 'by-id', ...query }));
  await call(clientWith(['dynamodb:Query'], [`${tableArn(TABLE)}/index/by-id`]));
  expect((await failureOf(call(clientWith(['dynamodb:Query'], [tableArn(TABLE)])))).name).toBe('AccessDeniedException');
  expect(denied.map(({ resource }) => resource)).toEqual([`${tableArn(TABLE)}/index/by-id`]);
});

test('a transaction needs the permission of each of its items', async () => {
  const condition = { ConditionExpression: 'attribute_not_exists(nothing)' };
  const transaction = new TransactWriteItemsCommand({
    TransactItems: [
      { Put: { TableName: TABLE, Item: { id: { S: 'a' } } } },
      { Update: { TableName: TABLE, Key: { id: { S: 'b' } }, UpdateExpression: 'REMOVE nothing' } },
      { Delete: { TableName: OTHER, Key: { id: { S: 'c' } } } },
      { ConditionCheck: { TableName: OTHER, Key: { id: { S: 'd' } }, ...condition } },
    ],
  });
  const needed: [string, string][] = [
    ['dynamodb:PutItem', TABLE],
    ['dynamodb:UpdateItem', TABLE],
    ['dynamodb:DeleteItem', OTHER],
    ['dynamodb:ConditionCheckItem', OTHER],
  ];
  const userWithout = (left?: string) => {
    const policies = needed
      .filter(([action]) => action !== left)
      .map(([action, table]) => allow(action, tableArn(table)));
    const user = principal('transactor', ...policies);
    front.addPrincipal(user);
    return dynamoDbClient(front, user);
  };
  await userWithout().send(transaction);
  for (const [action, table] of needed) {
    expect((await failureOf(userWithout(action).send(transaction))).name).toBe('AccessDeniedException');
    expect(denied.splice(0)).toEqual([{ principal: 'transactor', action, resource: tableArn(table) }]);
  }
});

test('a permission for items of transactions does not allow the operation by itself', async () => {
  const Condition = { StringEquals: { 'dynamodb:EnclosingOperation': 'TransactWriteItems' } };
  const user = principal('enclosed', allow('dynamodb:PutItem', tableArn(TABLE), { Condition }));
  front.addPrincipal(user);
  const client = dynamoDbClient(front, user);
  const Put = { TableName: TABLE, Item: Key };
  await client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put }] }));
  expect((await failureOf(client.send(new PutItemCommand(Put)))).name).toBe('AccessDeniedException');
});

test('a policy that is added to a role changes what its later calls may do', async () => {
  const user = principal('changed', allow('dynamodb:GetItem', tableArn(TABLE)));
  front.addPrincipal(user);
  const client = dynamoDbClient(front, user);
  const read = () => client.send(new GetItemCommand({ TableName: TABLE, Key }));
  await read();
  front.addPolicy('changed', { Statement: [{ Effect: 'Deny', Action: 'dynamodb:*', Resource: '*' }] });
  expect((await failureOf(read())).name).toBe('AccessDeniedException');
});

test.each<[string, (client: DynamoDBClient) => Promise<unknown>]>([
  ['ListTables', (client) => client.send(new ListTablesCommand({}))],
  ['ExecuteStatement', (client) => client.send(new ExecuteStatementCommand({ Statement: `SELECT * FROM "${TABLE}"` }))],
])('%s, which the front does not know, is refused even to a caller that may do everything', async (_, call) => {
  expect(await failureOf(call(dynamoDbClient(front)))).toEqual({ name: 'UnknownOperationException', status: 400 });
});
