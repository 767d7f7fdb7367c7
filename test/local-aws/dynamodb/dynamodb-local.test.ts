import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CreateTableCommand, ListTablesCommand, PutItemCommand, paginateListTables } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startDynamoDbLocal } from '../../../local-aws/dynamodb/dynamodb-local.ts';
import { engineClient } from '../../../local-aws/dynamodb/engine-client.ts';
import { TABLES } from '../../../shared/tables.ts';
import { processesOn } from '../../support/start-process.ts';
import { createTables, dynamoDbClient } from '../../support/tables.ts';
import { temporaryDirectory } from '../aws-front/front.ts';

test('DynamoDB Local creates every table that the product declares', async () => {
  const client = dynamoDbClient();
  const names = await createTables(client);
  const listed: string[] = [];
  for await (const { TableNames = [] } of paginateListTables({ client }, {})) listed.push(...TableNames);
  expect(listed).toEqual(expect.arrayContaining(Object.values(names)));
  expect(Object.keys(names)).toEqual(Object.keys(TABLES));
  await client.send(new PutItemCommand({ TableName: names.accounts, Item: { id: { S: 'a' } } }));
});

const TABLE = new CreateTableCommand({
  TableName: 'kept',
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
});

const tablesOf = async (endpoint: string) => (await engineClient(endpoint).send(new ListTablesCommand({}))).TableNames;

test('data that is kept is under an access key id that only its owner can read, and changes are appended to a log', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'engine-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const engine = await startDynamoDbLocal({ dataDir });
  await engineClient(engine.endpoint).send(TABLE);
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

describe('a later start', () => {
  /** The data of a service with one table and one object. */
  const dataDir = temporaryDirectory();
  const buckets = join(dataDir, 's3');
  const folder = join(dataDir, 'dynamodb');
  let id: string;
  beforeAll(async () => {
    const engine = await startDynamoDbLocal({ dataDir: folder, buckets });
    await engineClient(engine.endpoint).send(TABLE);
    await engine.close();
    id = await readFile(join(folder, 'access-key-id'), 'utf8');
    await mkdir(join(buckets, 'bucket', 'objects'), { recursive: true });
    await writeFile(join(buckets, 'bucket', 'objects', 'object'), 'content');
  });

  const ID = 'access-key-id';
  const OTHER = 'f'.repeat(32);
  const withoutDatabase = (directory: string) =>
    Promise.all(['', '-wal', '-shm'].map((end) => rm(join(directory, `${id}_local.db${end}`), { force: true })));

  test.each<[string, (directory: string) => Promise<unknown>, string]>([
    ['an empty id', (directory) => writeFile(join(directory, ID), ''), 'ID is damaged: write into it what'],
    ['no id', (directory) => rm(join(directory, ID)), 'ID is missing: write into it what'],
    [
      'the id of no database',
      (directory) => writeFile(join(directory, ID), OTHER),
      'ID names no database: write into it',
    ],
    ['no database', withoutDatabase, 'DATABASE is missing or empty, but BUCKETS has objects: restore'],
    [
      'an empty database',
      async (directory) => {
        await withoutDatabase(directory);
        await writeFile(join(directory, `${id}_local.db`), '');
      },
      'DATABASE is missing or empty, but BUCKETS has objects: restore',
    ],
    [
      'a file that is no database',
      async (directory) => {
        await withoutDatabase(directory);
        await writeFile(join(directory, `${id}_local.db`), 'x'.repeat(4096));
      },
      'DATABASE cannot be read (file is not a database): restore',
    ],
    [
      'neither id nor database',
      (directory) => rm(directory, { recursive: true }),
      'ID is missing or empty, but BUCKETS has objects: restore',
    ],
  ])('with %s beside objects is refused in one sentence, and makes no database', async (_, damage, sentence) => {
    const damaged = join(temporaryDirectory(), 'dynamodb');
    await cp(folder, damaged, { recursive: true });
    await damage(damaged);
    const databases = async () => (await readdir(damaged)).filter((name) => name.endsWith('.db'));
    const before = await databases().catch(() => []);
    const message = await startDynamoDbLocal({ dataDir: damaged, buckets }).then(
      String,
      (error: Error) => error.message,
    );
    const named = { ID: join(damaged, ID), DATABASE: join(damaged, `${id}_local.db`), BUCKETS: buckets };
    const start = sentence.replace(/ID|DATABASE|BUCKETS/g, (name) => named[name as keyof typeof named]);
    expect(message.slice(0, start.length)).toBe(start);
    expect(message).not.toContain('\n');
    expect(await databases()).toEqual(before);
  });

  test('takes an id that was written into the file again, with the end of a line', async () => {
    await writeFile(join(folder, ID), `${id}\n`);
    const engine = await startDynamoDbLocal({ dataDir: folder, buckets });
    expect(await tablesOf(engine.endpoint)).toEqual(['kept']);
    await engine.close();
  });
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

  // It is closed while it is being started again. The restart above may still be waiting for an answer, so no second line is certain.
  const second = await pidOfEngine();
  process.kill(second, 'SIGKILL');
  await expect.poll(pidOfEngine).not.toBe(second);
  await engine.close();
  await expect.poll(() => processesOn(dataDir)).toEqual([]);
});
