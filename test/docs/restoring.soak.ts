import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type GlobalSecondaryIndexDescription,
  type LocalSecondaryIndex,
  type LocalSecondaryIndexDescription,
  PutItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { expect, inject, test } from 'vitest';
import type { ServiceOptions } from '../../local-aws/service.ts';
import { adminProcessJson } from '../support/admin.ts';
import { type Client, client } from '../support/client.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { synthesizeStage } from '../support/synthesize-stage.ts';
import { nameTable } from '../support/template-edits.ts';

/** Restores a table as docs/operate.md says, by the engine instead of AWS Backup, with three starts of the service. */

test('a table restored from a backup serves its links, and goes on serving them when the stack has imported it', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'restoring-'));
  const accountId = String(randomInt(1e11, 1e12 - 1));
  const restored = `FileHosting-local-files-${accountId}`;
  const stages = [await synthesizeStage('local', { restoredTables: { files: restored } })];
  const start = (options: Partial<ServiceOptions>) => startTestService({}, { ...options, dataDir, accountId });

  const before = await start({});
  const { key, byKey } = await before.newAccount();
  const { body: kept } = await byKey.upload('kept.txt', 'kept');
  const { body: deleted } = await byKey.upload('deleted.txt', 'deleted since');
  await restoreTable(before, restored);
  await byKey.request('DELETE', `/files/${deleted.id}`);
  const { body: later } = await byKey.upload('later.txt', 'uploaded since, and larger');
  await before.close();

  const after = await start({ assembly: String(stages[0]?.directory) });
  await adminProcessJson({ dataDir }, 'reconcile', '--yes');
  const again = client(after.urls.base_url, { key });
  await expectFiles(again, ['kept.txt']);
  expect((await again.request('GET', `/files/${later.id}`)).status).toBe(404);
  expect((await again.upload('new.txt', 'new')).status).toBe(201);
  expect(await adminProcessJson({ dataDir }, 'reconcile', '--dry-run')).toEqual({ accounts: 1, differing: [] });
  await after.close();

  // After the import the file of the stage names no restored table, and the restored table is the resource `FilesTable` of the stack.
  const imported = await start({ edit: (templates) => nameTable(templates, 'FilesTable', restored) });
  await expectFiles(client(imported.urls.base_url, { key }), ['new.txt', 'kept.txt']);
  expect(kept.size_bytes).toBe(4);
  await imported.close();
  await Promise.all([rm(dataDir, { recursive: true }), ...stages.map(({ remove }) => remove())]);
});

/** Makes a table with the keys and rows of the table of files, as DynamoDB restores it from a backup. */
async function restoreTable(service: TestService, TableName: string): Promise<void> {
  // The local AWS refuses calls that make tables, because only CloudFormation may make them. So the test calls the engine directly.
  const engine = new DynamoDBClient({
    endpoint: inject('dynamoDbEndpoint'),
    region: 'us-east-1',
    credentials: { accessKeyId: 'deployment', secretAccessKey: 'deployment' },
  });
  const source = service.tables.files;
  const { Table = {} } = await engine.send(new DescribeTableCommand({ TableName: source }));
  const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes = [], LocalSecondaryIndexes = [] } = Table;
  const indexes = (of: readonly (GlobalSecondaryIndexDescription | LocalSecondaryIndexDescription)[]) =>
    of.map(({ IndexName, KeySchema, Projection }) => ({ IndexName, KeySchema, Projection }) as LocalSecondaryIndex);
  await engine.send(
    new CreateTableCommand({
      TableName,
      AttributeDefinitions,
      KeySchema,
      BillingMode: 'PAY_PER_REQUEST',
      GlobalSecondaryIndexes: indexes(GlobalSecondaryIndexes),
      LocalSecondaryIndexes: indexes(LocalSecondaryIndexes),
    }),
  );
  const { Items = [] } = await engine.send(new ScanCommand({ TableName: source, ConsistentRead: true }));
  for (const Item of Items) await engine.send(new PutItemCommand({ TableName, Item }));
  engine.destroy();
}

async function expectFiles(byKey: Client, names: readonly string[]): Promise<void> {
  const { body } = await byKey.request('GET', '/files');
  const items = body.items as { name: string; url: string }[];
  expect([items.map(({ name }) => name), body.total]).toEqual([names, names.length]);
  for (const { url } of items) expect((await fetch(url)).status).toBe(200);
}
