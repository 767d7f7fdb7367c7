import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CreateTableCommand, ListTablesCommand, PutItemCommand, paginateListTables } from '@aws-sdk/client-dynamodb';
import { expect, onTestFinished, test } from 'vitest';
import { startDynamoDbLocal } from '../../../local-aws/dynamodb/dynamodb-local.ts';
import { engineClient } from '../../../local-aws/dynamodb/engine-client.ts';
import { TABLES } from '../../../shared/tables.ts';
import { createTables, dynamoDbClient } from '../../support/tables.ts';

test('DynamoDB Local creates every table that the product declares', async () => {
  const client = dynamoDbClient();
  const names = await createTables(client);
  const listed: string[] = [];
  for await (const { TableNames = [] } of paginateListTables({ client }, {})) listed.push(...TableNames);
  expect(listed).toEqual(expect.arrayContaining(Object.values(names)));
  expect(Object.keys(names)).toEqual(Object.keys(TABLES));
  await client.send(new PutItemCommand({ TableName: names.accounts, Item: { id: { S: 'a' } } }));
});

test('data that is kept is under an access key id that only its owner can read, and changes are appended to a log', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'engine-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const command = new CreateTableCommand({
    TableName: 'kept',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  });
  const tablesOf = async (endpoint: string) =>
    (await engineClient(endpoint).send(new ListTablesCommand({}))).TableNames;
  const engine = await startDynamoDbLocal({ dataDir });
  await engineClient(engine.endpoint).send(command);
  const stranger = `http://stranger@${new URL(engine.endpoint).host}`;
  expect([await tablesOf(engine.endpoint), await tablesOf(stranger)]).toEqual([['kept'], []]);
  await engine.close();
  const id = await readFile(join(dataDir, 'access-key-id'), 'utf8');
  expect((await stat(join(dataDir, 'access-key-id'))).mode & 0o077).toBe(0);
  const database = new DatabaseSync(join(dataDir, `${id}_local.db`));
  expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  database.close();
  const again = await startDynamoDbLocal({ dataDir });
  expect(await tablesOf(again.endpoint)).toEqual(['kept']);
  await again.close();
});
