import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
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
import { operatorParameterName } from '../../infra/settings/stage.ts';
import type { ServiceOptions } from '../../local-aws/service.ts';
import { TABLES, type TableDefinition } from '../../shared/aws/tables.ts';
import { isPublicKey } from '../../shared/files/object-key.ts';
import { DELETED_BYTES_KEPT_DAYS } from '../../shared/limits.ts';
import { adminProcessJson } from '../support/admin.ts';
import { type Client, client } from '../support/client.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { synthesizeStage } from '../support/synthesize-stage.ts';
import { synthesized } from '../support/synthesized.ts';
import { nameTable } from '../support/template-edits.ts';
import { pageSettings } from './operator-page.ts';

/** The sections of docs/operate.md about restoring and exporting agree with the stacks and the code. */

const ROOT = join(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/operate.md'), 'utf8');
const section = (title: string) => new RegExp(`\\n## ${title}\\n([\\s\\S]*?)\\n## `).exec(page)?.[1] ?? '';
const [restoring, exporting] = [section('Restoring a table'), section('Exporting everything')];
const commands = [...`${restoring}${exporting}`.matchAll(/```sh\n([\s\S]*?)```/g)]
  .map(([, code]) => code)
  .join('\n')
  .replaceAll('$STAGE', 'prod');
const all = (pattern: RegExp) => new Set([...commands.matchAll(pattern)].map(([, found = '']) => found));

test("the guide reads the stage's parameter, and only values that are in it", async () => {
  expect(all(/ssm get-parameter --name (\S+)/g)).toEqual(new Set([operatorParameterName('prod')]));
  const parameters = await synthesized('Data', 'AWS::SSM::Parameter');
  const operator = parameters.find(({ Properties }) => Properties.Name === operatorParameterName('local'));
  const text = JSON.stringify(operator?.Properties.Value);
  const read = [
    ...all(/jq -r \.(\w+)/g),
    ...[...all(/for VARIABLE in ([A-Z_ ]+);/g)].flatMap((list) => list.split(' ')),
  ];
  expect(read.length).toBeGreaterThan(3);
  for (const variable of read) expect(text).toContain(`\\"${variable}\\":`);
});

test("the guide's name of a restored table is the same in its commands and in its example of the stage's file", () => {
  const [name] = all(/^RESTORED=(\S+)$/gm);
  expect(pageSettings(restoring)).toContainEqual({ restoredTables: { files: name } });
});

test("the guide turns on expiry with the tables' attributes", () => {
  const attributes = new Set(Object.values<TableDefinition>(TABLES).flatMap(({ ttl }) => ttl ?? []));
  expect(all(/AttributeName=(\w+)/g)).toEqual(attributes);
});

test('the guide uses the right prefix of objects, and the days that they are kept', () => {
  for (const prefix of [...all(/--prefix (uploads\/)/g), ...all(/^KEY=(\S+)$/gm)]) {
    expect([prefix, isPublicKey(prefix)]).toEqual([prefix, true]);
  }
  const days = new Set([...restoring.matchAll(/\b(\d+) days/g)].map(([, count]) => Number(count)));
  // DynamoDB keeps backups for 35 days.
  expect(days).toEqual(new Set([35, DELETED_BYTES_KEPT_DAYS]));
});

test("the guide's links to its own headings work", () => {
  const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);
  const anchors = headings.map((title) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
  expect(links.filter((anchor) => !anchors.includes(String(anchor)))).toEqual([]);
  expect(links.length).toBeGreaterThan(0);
});

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

  // After the import the file of the stage names no table, and CloudFormation knows this one by its own logical id.
  const imported = await start({ edit: (templates) => nameTable(templates, 'FilesTable', restored) });
  await expectFiles(client(imported.urls.base_url, { key }), ['new.txt', 'kept.txt']);
  expect(kept.size_bytes).toBe(4);
  await imported.close();
  await Promise.all([rm(dataDir, { recursive: true }), ...stages.map(({ remove }) => remove())]);
});

/** Makes a table with the keys and rows of the table of files, as DynamoDB restores it from a backup. */
async function restoreTable(service: TestService, TableName: string): Promise<void> {
  // The front of the local AWS makes no tables: only CloudFormation does.
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
