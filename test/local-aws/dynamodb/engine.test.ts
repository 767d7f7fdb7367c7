import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  CreateTableCommand,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  paginateListTables,
} from '@aws-sdk/client-dynamodb';
import { afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startEngine } from '../../../local-aws/dynamodb/engine.ts';
import { engineClient } from '../../../local-aws/dynamodb/engine-client.ts';
import { TABLES } from '../../../shared/tables.ts';
import { engineOn, processesOn } from '../../support/start-process.ts';
import { createTables, dynamoDbClient } from '../../support/tables.ts';
import { temporaryDirectory } from '../aws-front/front.ts';

test('the engine creates every table that the product declares', async () => {
  const client = dynamoDbClient();
  const names = await createTables(client);
  const listed: string[] = [];
  for await (const { TableNames = [] } of paginateListTables({ client }, {})) listed.push(...TableNames);
  expect(listed).toEqual(expect.arrayContaining(Object.values(names)));
  expect(Object.keys(names)).toEqual(Object.keys(TABLES));
  await client.send(new PutItemCommand({ TableName: names.accounts, Item: { id: { S: 'a' } } }));
});

const TableName = 'kept';
const TABLE = new CreateTableCommand({
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
});

const tablesOf = async (endpoint: string) => (await engineClient(endpoint).send(new ListTablesCommand({}))).TableNames;

afterEach(() => vi.unstubAllEnvs());
/** Only Dynoxide keeps data, whichever engine the other tests use. */
const withDynoxide = () => vi.stubEnv('ENGINE', 'dynoxide');

test('what is acknowledged is there after a kill -9 of the engine, which is started again at the same address', async () => {
  withDynoxide();
  const dataDir = temporaryDirectory();
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => said.mockRestore());
  const engine = await startEngine({ dataDir });
  const client = engineClient(engine.endpoint);
  await client.send(TABLE);
  const ids = Array.from({ length: 50 }, (_, index) => String(index));
  await Promise.all(ids.map((id) => client.send(new PutItemCommand({ TableName, Item: { id: { S: id } } }))));
  const first = engineOn(dataDir);
  process.kill(first, 'SIGKILL');
  const read = async (id: string) =>
    (await client.send(new GetItemCommand({ TableName, Key: { id: { S: id } } }))).Item?.id?.S;
  await expect.poll(() => read('0').catch(() => 'no answer')).toBe('0');
  expect(await Promise.all(ids.map(read))).toEqual(ids);
  expect(engineOn(dataDir)).not.toBe(first);
  expect(said.mock.calls).toEqual([['The database (Dynoxide) has ended by itself. It is started again.']]);

  // It is closed while it is being started again. The restart above may still be waiting for an answer, so no second line is certain.
  process.kill(engineOn(dataDir), 'SIGKILL');
  await engine.close();
  await expect.poll(() => processesOn(dataDir)).toEqual([]);
});

test('kept data is at an address that a page in a browser does not know', async () => {
  withDynoxide();
  const [one, other] = [
    await startEngine({ dataDir: temporaryDirectory() }),
    await startEngine({ dataDir: temporaryDirectory() }),
  ];
  const hosts = [one, other].map(({ endpoint }) => new URL(endpoint).hostname);
  if (process.platform === 'darwin') expect(hosts).toEqual(['127.0.0.1', '127.0.0.1']);
  else expect(new Set(['127.0.0.1', ...hosts]).size).toBe(3);
  for (const host of hosts) expect(host).toMatch(/^127\./);
  await Promise.all([one.close(), other.close()]);
});

test('the engine ends when the process that started it is killed', async () => {
  const dataDir = temporaryDirectory();
  const { href } = pathToFileURL(join(import.meta.dirname, '../../../local-aws/dynamodb/engine.ts'));
  const script = `import { startEngine } from ${JSON.stringify(href)};
    await startEngine({ dataDir: ${JSON.stringify(dataDir)} });
    console.log('up');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, ENGINE: 'dynoxide' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  expect(engineOn(dataDir)).toBeGreaterThan(0);
  child.kill('SIGKILL');
  await expect.poll(() => engineOn(dataDir)).toBe(0);
});

describe('a later start', () => {
  /** The data of a service with one table and one object. */
  const dataDir = temporaryDirectory();
  const buckets = join(dataDir, 's3');
  const folder = join(dataDir, 'dynamodb');
  const DATABASE = 'dynoxide.db';
  beforeAll(async () => {
    withDynoxide();
    const engine = await startEngine({ dataDir: folder, buckets });
    await engineClient(engine.endpoint).send(TABLE);
    await engine.close();
    await mkdir(join(buckets, 'bucket', 'objects'), { recursive: true });
    await writeFile(join(buckets, 'bucket', 'objects', 'object'), 'content');
  });

  test('has the tables and objects of the first one', async () => {
    withDynoxide();
    const engine = await startEngine({ dataDir: folder, buckets });
    expect(await tablesOf(engine.endpoint)).toEqual([TableName]);
    await engine.close();
    expect(await readdir(buckets)).toEqual(['bucket']);
  });

  const withoutDatabase = (directory: string) =>
    Promise.all(['', '-wal', '-shm'].map((end) => rm(join(directory, `${DATABASE}${end}`), { force: true })));

  test.each<[string, (directory: string) => Promise<unknown>, string]>([
    ['no database', withoutDatabase, 'DATABASE is missing or empty, but BUCKETS has objects: restore'],
    ['no folder', (directory) => rm(directory, { recursive: true }), 'DATABASE is missing or empty, but BUCKETS has'],
    [
      'an empty database',
      async (directory) => {
        await withoutDatabase(directory);
        await writeFile(join(directory, DATABASE), '');
      },
      'DATABASE is missing or empty, but BUCKETS has objects: restore',
    ],
    [
      'the database that the engine makes when the former one is missing',
      async (directory) => {
        await withoutDatabase(directory);
        await (await startEngine({ dataDir: directory })).close();
      },
      'DATABASE is missing or empty, but BUCKETS has objects: restore',
    ],
    [
      'a file that is no database',
      async (directory) => {
        await withoutDatabase(directory);
        await writeFile(join(directory, DATABASE), 'x'.repeat(4096));
      },
      'DATABASE cannot be read (file is not a database): restore',
    ],
    [
      'the database that DynamoDB Local kept for an older version',
      async (directory) => {
        await withoutDatabase(directory);
        await writeFile(join(directory, 'id_local.db'), '');
      },
      'FOLDER/id_local.db is of DynamoDB Local, which no longer keeps data here: go on with the version',
    ],
  ])('with %s beside objects is refused in one sentence, and makes no database', async (_, damage, sentence) => {
    withDynoxide();
    const damaged = join(temporaryDirectory(), 'dynamodb');
    await cp(folder, damaged, { recursive: true });
    await damage(damaged);
    const databases = async () => (await readdir(damaged)).filter((name) => name.endsWith('.db'));
    const before = await databases().catch(() => []);
    const message = await startEngine({ dataDir: damaged, buckets }).then(String, (error: Error) => error.message);
    const named = { DATABASE: join(damaged, DATABASE), BUCKETS: buckets, FOLDER: damaged };
    const start = sentence.replace(/DATABASE|BUCKETS|FOLDER/g, (name) => named[name as keyof typeof named]);
    expect(message.slice(0, start.length)).toBe(start);
    expect(message).not.toContain('\n');
    expect(await databases()).toEqual(before);
  });

  test('on an engine that has its tables only in memory is refused, and changes nothing', async () => {
    vi.stubEnv('ENGINE', 'dynamodb-local');
    await expect(startEngine({ dataDir: folder, buckets })).rejects.toThrow(
      `DynamoDB Local has its tables only in memory, but ${dataDir} has data of another start: set DATA_DIR to another folder.`,
    );
    expect([await readdir(buckets), (await readdir(folder)).includes(DATABASE)]).toEqual([['bucket'], true]);
  });
});

test('an engine whose address is that of another program is given up', async () => {
  withDynoxide();
  const dataDir = temporaryDirectory();
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => said.mockRestore());
  const { promise: lost, resolve: onLost } = Promise.withResolvers<Error>();
  const engine = await startEngine({ dataDir, onLost });
  const { hostname, port } = new URL(engine.endpoint);
  const other = createServer((_, response) => response.end());
  const listen = () => other.listen(Number(port), hostname);
  other.on('error', () => setImmediate(listen));
  listen();
  process.kill(engineOn(dataDir), 'SIGKILL');
  expect((await lost).message).toMatch(/^The database \(Dynoxide\) has ended: /);
  other.close();
  await engine.close();
  await expect.poll(() => processesOn(dataDir)).toEqual([]);
});

test('an engine ends although somebody is in the middle of a request', async () => {
  withDynoxide();
  const engine = await startEngine({ dataDir: temporaryDirectory() });
  const { hostname, port } = new URL(engine.endpoint);
  const half = connect(Number(port), hostname).on('error', () => {});
  await once(half, 'connect');
  await new Promise((resolve) => half.write('POST / HTTP/1.1\r\nHost: x\r\n', resolve));
  const closed = once(half, 'close');
  await engine.close();
  await closed;
});

test('an engine that does not exist is refused by name', async () => {
  vi.stubEnv('ENGINE', 'sqlite');
  await expect(startEngine()).rejects.toThrow('ENGINE must be dynoxide or dynamodb-local, not "sqlite".');
});
