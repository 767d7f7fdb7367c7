import { randomUUID } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import {
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createFaults, type Fault, type FaultEffect, type FaultSubject } from '../../../local-aws/aws-front/faults.ts';
import { dynamoDbClient as engineClient } from '../../support/tables.ts';
import {
  ACCOUNT,
  ADMIN,
  allow,
  BUCKET,
  createTable,
  dynamoDbClient,
  failureOf,
  frontOfFile,
  principal,
  s3Client,
  temporaryDirectory,
} from './front.ts';

const other = principal('other', allow('*', '*'));
const dataDir = temporaryDirectory();
const front = await frontOfFile({ dataDir, principals: [other], secrets: { secret: 'value' } });
const [TABLE, OTHER] = [await createTable(), await createTable()];
const client = dynamoDbClient(front);
const s3 = s3Client(front);
/** Gives up after 200 ms. It is only for calls that are never answered: on a busy machine other calls may take as long. */
const impatientS3 = s3Client(front, ADMIN, { requestHandler: { requestTimeout: 200, throwOnRequestTimeout: true } });

/** A fault for the rest of the test. */
function inject(effect: FaultEffect, match: Fault['match'] = {}, more: Partial<Fault> = {}) {
  const handle = front.faults.add({ match, effect, ...more });
  onTestFinished(() => handle.remove());
  return handle;
}
const put = (id: string, who = client, TableName = TABLE) =>
  who.send(new PutItemCommand({ TableName, Item: { id: { S: id } } }));
const isThere = async (id: string) => {
  const { Item } = await engineClient().send(
    new GetItemCommand({ TableName: TABLE, Key: { id: { S: id } }, ConsistentRead: true }),
  );
  return Item !== undefined;
};
const putObject = (Key: string, who = s3) =>
  who.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: Buffer.alloc(200_000) }));
const objectIsThere = (Key: string) =>
  s3Client(front)
    .send(new HeadObjectCommand({ Bucket: BUCKET, Key }))
    .then(
      () => true,
      () => false,
    );

describe('a write of DynamoDB', () => {
  test.each<[FaultEffect, string, number | undefined, boolean]>([
    ['throttle', 'ProvisionedThroughputExceededException', 400, false],
    ['conflict', 'TransactionConflictException', 400, false],
    ['error-before', 'InternalServerError', 500, false],
    ['error-after', 'InternalServerError', 500, true],
    ['cut', 'TimeoutError', undefined, false],
    ['cut-after', 'TimeoutError', undefined, true],
    [{ answer: { status: 400, body: { __type: 'com.amazonaws#Refused' } } }, 'Refused', 400, false],
  ])('a write of DynamoDB with the fault %s fails as %s', async (effect, name, status, happened) => {
    const id = randomUUID();
    const fault = inject(effect, { operation: 'PutItem' }, { times: 1 });
    expect(await failureOf(put(id))).toEqual({ name, status });
    expect([await isThere(id), fault.hits]).toEqual([happened, 1]);
    await put(id);
  });

  test('a write that is never answered fails when the client gives up', async () => {
    inject('timeout', { operation: 'PutItem' });
    const config = { requestHandler: { requestTimeout: 50, throwOnRequestTimeout: true } };
    const id = randomUUID();
    expect((await failureOf(put(id, dynamoDbClient(front, ADMIN, config)))).name).toBe('TimeoutError');
    expect(await isThere(id)).toBe(false);
  });

  test('is performed at once and answered when the test says so', async () => {
    const id = randomUUID();
    const release = Promise.withResolvers<void>();
    inject({ answeredAfter: release.promise }, { operation: 'PutItem' });
    const events: string[] = [];
    const answered = put(id).then(() => events.push('answered'));
    await expect.poll(() => isThere(id)).toBe(true);
    events.push('released');
    release.resolve();
    await answered;
    expect(events).toEqual(['released', 'answered']);
  });

  test('is tried again by the SDK when it is throttled', async () => {
    const fault = inject('throttle', {}, { times: 2 });
    await put('again', dynamoDbClient(front, ADMIN, { maxAttempts: 3 }));
    expect(fault.hits).toBe(2);
  });
});

describe('a transaction', () => {
  const transact = async () => {
    const id = { id: { S: randomUUID() } };
    const TransactItems = [
      { Put: { TableName: TABLE, Item: id } },
      { Update: { TableName: OTHER, Key: id, UpdateExpression: 'REMOVE nothing' } },
    ];
    const error = await client
      .send(new TransactWriteItemsCommand({ TransactItems }))
      .catch((thrown: unknown) => thrown);
    return { error, happened: await isThere(id.id.S) };
  };

  test.each<[string, FaultEffect, Fault['match'], (string | undefined)[]]>([
    ['with a conflict', 'conflict', {}, ['TransactionConflict', 'None']],
    ['with a conflict on its second table', 'conflict', { table: OTHER }, ['None', 'TransactionConflict']],
    ['that is throttled', 'throttle', {}, ['ThrottlingError', 'None']],
  ])('a transaction %s is cancelled, with a reason for each item', async (_name, effect, match, codes) => {
    inject(effect, match);
    const { error, happened } = await transact();
    expect(error).toBeInstanceOf(TransactionCanceledException);
    expect((error as TransactionCanceledException).CancellationReasons?.map(({ Code }) => Code)).toEqual(codes);
    expect(happened).toBe(false);
  });

  test('may have happened although its answer was lost', async () => {
    inject('error-after');
    expect((await transact()).happened).toBe(true);
  });
});

describe('an upload to S3', () => {
  test.each<[FaultEffect, string, boolean]>([
    ['throttle', 'SlowDown', false],
    ['error-before', 'InternalError', false],
    ['error-after', 'InternalError', true],
    ['cut', 'TimeoutError', false],
    ['cut-after', 'TimeoutError', true],
    ['timeout', 'TimeoutError', false],
  ])('an upload to S3 with the fault %s fails as %s', async (effect, name, happened) => {
    const Key = randomUUID();
    inject(effect, { service: 's3', operation: 'PutObject' });
    const who = effect === 'timeout' ? impatientS3 : s3;
    expect((await failureOf(putObject(Key, who))).name).toBe(name);
    expect(await objectIsThere(Key)).toBe(happened);
  });
});

// Only Linux lists the open files of a process in /proc.
test.runIf(process.platform === 'linux')('a download whose answer a fault discards leaves no file open', async () => {
  const openObjects = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(dataDir);
      } catch {
        return false; // It was closed meanwhile.
      }
    });
  await putObject('read');
  inject('error-after', { operation: 'GetObject' });
  const read = s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'read' }));
  expect(await failureOf(read)).toEqual({ name: 'InternalError', status: 500 });
  await expect.poll(openObjects).toEqual([]);
});

test('a throttled read of a secret fails with a ThrottlingException', async () => {
  inject('throttle', { service: 'secretsmanager' });
  const secrets = new SecretsManagerClient({
    ...ACCOUNT,
    endpoint: front.endpoint,
    credentials: ADMIN,
    maxAttempts: 1,
  });
  const read = secrets.send(new GetSecretValueCommand({ SecretId: 'secret' }));
  expect(await failureOf(read)).toEqual({ name: 'ThrottlingException', status: 400 });
});

describe('a late call', () => {
  const version = (id: string, at: number, who = client) =>
    who.send(new PutItemCommand({ TableName: TABLE, Item: { id: { S: id }, at: { N: String(at) } } }));
  const versionOf = async (id: string) => {
    const command = new GetItemCommand({ TableName: TABLE, Key: { id: { S: id } }, ConsistentRead: true });
    return Number((await engineClient().send(command)).Item?.at?.N);
  };

  test('a late DynamoDB call gets no answer, and is performed when the test says so', async () => {
    const id = randomUUID();
    const release = Promise.withResolvers<void>();
    const fault = inject({ lateBy: release.promise }, { operation: 'PutItem' }, { times: 1 });
    expect((await failureOf(version(id, 1))).name).toBe('TimeoutError');
    expect(await isThere(id)).toBe(false);
    await version(id, 2);
    release.resolve();
    expect(await fault.lateAnswers()).toEqual([200]);
    // The late call was performed after all others.
    expect(await versionOf(id)).toBe(1);
  });

  test('is performed after a retry of the SDK that succeeded', async () => {
    const id = randomUUID();
    const release = Promise.withResolvers<void>();
    const fault = inject({ lateBy: release.promise }, { operation: 'PutItem' }, { times: 1 });
    await version(id, 1, dynamoDbClient(front, ADMIN, { maxAttempts: 2 }));
    await version(id, 2);
    expect(await versionOf(id)).toBe(2);
    release.resolve();
    await fault.lateAnswers();
    expect(await versionOf(id)).toBe(1);
  });

  test('stores its whole body in S3', async () => {
    const Key = randomUUID();
    const release = Promise.withResolvers<void>();
    const fault = inject({ lateBy: release.promise }, { operation: 'PutObject' });
    expect((await failureOf(putObject(Key))).name).toBe('TimeoutError');
    expect(await objectIsThere(Key)).toBe(false);
    release.resolve();
    expect(await fault.lateAnswers()).toEqual([200]);
    const { ContentLength } = await s3Client(front).send(new HeadObjectCommand({ Bucket: BUCKET, Key }));
    expect(ContentLength).toBe(200_000);
  });

  test('does no harm when it is refused in the end', async () => {
    const id = randomUUID();
    const fault = inject({ lateBy: 10 }, { operation: 'PutItem' }, { times: 1 });
    const condition = { ConditionExpression: 'attribute_exists(id)' };
    const refused = client.send(new PutItemCommand({ TableName: TABLE, Item: { id: { S: id } }, ...condition }));
    expect((await failureOf(refused)).name).toBe('TimeoutError');
    expect(await fault.lateAnswers()).toEqual([400]);
    expect(await isThere(id)).toBe(false);
  });
});

describe('a fault', () => {
  test.each<[string, Fault['match'], () => Promise<unknown>, () => Promise<unknown>]>([
    ['a service', { service: 'dynamodb' }, () => put('x'), () => putObject('x')],
    ['an operation', { operation: 'PutItem' }, () => put('x'), () => remove('x')],
    ['a table', { table: TABLE }, () => put('x'), () => put('x', client, OTHER)],
    ['a principal', { principal: 'admin' }, () => put('x'), () => put('x', dynamoDbClient(front, other))],
    ['a predicate', { predicate: ({ key }) => key === 'x' }, () => putObject('x'), () => putObject('y')],
  ])('applies only to the calls of %s', async (_, match, hit, spared) => {
    const fault = inject('error-before', match);
    await spared();
    expect((await failureOf(hit())).status).toBe(500);
    expect(fault.hits).toBe(1);
  });
  const remove = (id: string) => client.send(new DeleteItemCommand({ TableName: TABLE, Key: { id: { S: id } } }));

  test('applies to as many calls as its `times` says', async () => {
    const fault = inject('error-before', {}, { times: 2 });
    expect((await failureOf(put('x'))).status).toBe(500);
    expect((await failureOf(put('x'))).status).toBe(500);
    await put('x');
    expect(fault.hits).toBe(2);
  });

  test('with `every: 3` applies to each third call only', async () => {
    const fault = inject('error-before', {}, { every: 3 });
    const outcomes: string[] = [];
    for (let call = 1; call <= 7; call++)
      outcomes.push(
        await put('x').then(
          () => 'ok',
          () => 'failed',
        ),
      );
    expect(outcomes).toEqual(['ok', 'ok', 'failed', 'ok', 'ok', 'failed', 'ok']);
    expect(fault.hits).toBe(2);
  });

  test('applies to no call after it was removed', async () => {
    const fault = inject('error-before', {}, { mayNotApply: true });
    fault.remove();
    await put('x');
    expect(fault.hits).toBe(0);
  });

  test('does not apply a conflict to a call that cannot conflict', async () => {
    const fault = inject('conflict', {}, { mayNotApply: true });
    await client.send(new GetItemCommand({ TableName: TABLE, Key: { id: { S: 'x' } } }));
    expect(fault.hits).toBe(0);
  });

  test('does not apply to a call that lacks a permission', async () => {
    const fault = inject('error-after', {}, { mayNotApply: true });
    const powerless = principal('powerless');
    front.addPrincipal(powerless);
    expect((await failureOf(put('x', dynamoDbClient(front, powerless)))).name).toBe('AccessDeniedException');
    expect(fault.hits).toBe(0);
  });
});

describe('the check of faults at the end of a test', () => {
  const subject: FaultSubject = { service: 's3', operation: 'PutObject', tables: [], principal: 'admin' };
  const match = { operation: 'GetObject' };
  const failing = () => {
    throw new Error('no such property');
  };

  test('a fault that applied to no call is an error with its match, its effect and where it was added', () => {
    const faults = createFaults();
    faults.add({ match, effect: 'throttle' });
    expect(faults.take(subject)).toBeUndefined();
    expect(() => faults.assertApplied()).toThrow(
      /'GetObject'.*'throttle'.* applied to no call.*\n.*faults\.test\.ts:\d+/,
    );
  });

  test('a fault that applied to no call before it was removed is an error as well', () => {
    const faults = createFaults();
    faults.add({ match, effect: 'throttle' }).remove();
    expect(() => faults.assertApplied()).toThrow(/applied to no call/);
  });

  test('a fault with a predicate that threw is an error, and does not apply', () => {
    const faults = createFaults();
    faults.add({ match: { predicate: failing }, effect: 'throttle', mayNotApply: true });
    faults.add({ match: {}, effect: 'cut' });
    expect(faults.take(subject)?.effect).toBe('cut');
    expect(() => faults.assertApplied()).toThrow(/predicate that threw Error: no such property/);
  });

  test('a fault that applied, or that may apply to no call, is not an error', () => {
    const faults = createFaults();
    faults.add({ match, effect: 'throttle', mayNotApply: true });
    faults.add({ match: {}, effect: 'cut' });
    faults.take(subject);
    expect(() => faults.assertApplied()).not.toThrow();
  });

  test('a fault is forgotten when all are cleared, and applies no longer', () => {
    const faults = createFaults();
    faults.add({ match, effect: 'throttle' });
    faults.add({ match: {}, effect: 'cut' });
    faults.clear();
    expect(faults.take(subject)).toBeUndefined();
    expect(() => faults.assertApplied()).not.toThrow();
  });
});
