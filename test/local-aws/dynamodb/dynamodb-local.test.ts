import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CreateTableCommand, ListTablesCommand, PutItemCommand, paginateListTables } from '@aws-sdk/client-dynamodb';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startDynamoDbLocal } from '../../../local-aws/dynamodb/dynamodb-local.ts';
import { engineClient } from '../../../local-aws/dynamodb/engine-client.ts';
import { TABLES } from '../../../shared/tables.ts';
import { processesOn } from '../../support/start-process.ts';
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

const parentOf = (pid: number) =>
  Number(execFileSync('sh', ['-c', `cut -d" " -f4 /proc/${pid}/stat 2>/dev/null || ps -o ppid= -p ${pid}`]));

test.each([
  ['the engine', (pid: number) => pid],
  ['the shell around the engine', parentOf],
])('when %s is killed, the engine is started again at the same address, and `close` ends it', async (_, victim) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'engine-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => said.mockRestore());
  const pidOfEngine = async () => Number(await readFile(join(dataDir, 'engine.pid'), 'utf8'));
  const answers = () =>
    fetch(`http://${new URL(engine.endpoint).host}`).then(
      () => pidOfEngine(),
      () => 0,
    );
  const engine = await startDynamoDbLocal({ dataDir });
  const first = await pidOfEngine();
  process.kill(victim(first), 'SIGKILL');
  await expect.poll(answers).not.toBeOneOf([0, first]);
  expect(said.mock.calls).toEqual([['The database (DynamoDB Local) has ended by itself. It is started again.']]);

  // It is closed while it is being started again.
  process.kill(await pidOfEngine(), 'SIGKILL');
  await expect.poll(() => said.mock.calls.length).toBe(2);
  await engine.close();
  await expect.poll(() => processesOn(dataDir)).toEqual([]);
});
