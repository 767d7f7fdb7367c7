import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PutItemCommand, paginateListTables } from '@aws-sdk/client-dynamodb';
import { expect, onTestFinished, test } from 'vitest';
import { startDynamoDbLocal } from '../../../local-aws/dynamodb/dynamodb-local.ts';
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

test('DynamoDB Local appends changes to a log, also to a database that an earlier version made', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'engine-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const journalMode = () => {
    const database = new DatabaseSync(join(dataDir, 'shared-local-instance.db'));
    const row = database.prepare('PRAGMA journal_mode').get();
    database.close();
    return row;
  };
  expect(journalMode()).toEqual({ journal_mode: 'delete' });
  const engine = await startDynamoDbLocal({ dataDir });
  await engine.close();
  expect(journalMode()).toEqual({ journal_mode: 'wal' });
});
