import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROUTES } from '../../functions/routes.ts';
import { cookieJar } from '../../local-aws/identity-provider/cookie-jar.ts';
import { logIn } from '../../local-aws/identity-provider/log-in.ts';
import type { Fault } from '../../local-aws/service.ts';
import type { Route } from '../../shared/route.ts';
import { FORM, filePart } from '../support/forms.ts';
import { generateFiles, generateWork } from '../support/generated-files.ts';
import { askForTicket, complete, put, type Ticket, uploadStreaming } from '../support/lanes.ts';
import { type Operator, operatorOf } from '../support/operator.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { withFault } from '../support/with-fault.ts';
import { forgetRecentUse, nextSeqEndsLeaf, nextSeqStartsGroup, walkEverything } from './fast-forward.ts';

/**
 * Makes the service do everything it can, and then expects that every granted action was used. (That no grant is missing is
 * checked in every other test: a denied call makes `close` throw.)
 */

const LARGE = new Uint8Array(6_000_000);
const MAX_BYTES = 34_000_000;
const TOO_LARGE = new Uint8Array(MAX_BYTES + 1);
/** A file that is copied in more than one part. */
const COPIED_IN_PARTS = new Uint8Array(MAX_BYTES);
const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';
/** A body for every method that may have one. */
const EMPTY_JSON = { headers: { 'content-type': 'application/json' }, body: '{}' };

let service: TestService;
let operator: Operator;
let account: TestAccount;

beforeAll(async () => {
  service = await startTestService({ MAX_UPLOAD_SIZE_BYTES: String(MAX_BYTES) });
  operator = operatorOf(service);
  account = await service.newAccount();
  service.holdEvents();
});
afterAll(async () => {
  operator.close();
  await service.close();
});

const broken = (service: 's3' | 'dynamodb', operation: string): Fault => ({
  match: { service, operation },
  effect: 'error-before',
});

async function arrived(
  name: string,
  headers: Record<string, string> = {},
  content: string | Uint8Array<ArrayBuffer> = 'x',
): Promise<Ticket> {
  const { body: ticket } = await askForTicket(account.byKey, name, content.length, headers);
  expect(await put(ticket, content)).toBe(200);
  return ticket;
}

/**
 * Requests every route that needs a credential, except the routes that end sessions, with every kind of credential that the route accepts.
 * Each request is the first in hours.
 */
async function requestEveryRoute(): Promise<void> {
  const { byKey, bySession } = account;
  for (const { method, path, access } of Object.values<Route>(ROUTES)) {
    const relative = path.replace('{id}', UNKNOWN_ID).replace('/api/v1', '');
    if (access === 'public' || ['POST /auth/logout', 'DELETE /auth/sessions'].includes(`${method} ${relative}`))
      continue;
    for (const by of access === 'session' ? [bySession] : [bySession, byKey]) {
      await forgetRecentUse(operator);
      await by.request(method, relative, method === 'GET' ? {} : EMPTY_JSON);
    }
  }
  for (const by of [bySession, byKey]) {
    await forgetRecentUse(operator);
    await uploadStreaming({ byKey: by }, 'a', 'a');
  }
}

async function useLoginsAndKeys(): Promise<void> {
  await fetch(`${service.urls.root_url}/health`);
  await fetch(`${service.urls.root_url}/nothing`);
  await operator.putCanaryKey(account.key);
  await service.invoke('CanaryFunction', { time: '2026-01-01T00:30:00Z' });
  await forgetRecentUse(operator);
  await fetch(`${service.urls.base_url}/auth/google`, { redirect: 'manual' });
  await forgetRecentUse(operator);
  await fetch(`${service.urls.base_url}/auth/google/callback`, { redirect: 'manual' });
  const browser = { startUrl: `${service.urls.base_url}/auth/google`, email: account.email, jar: cookieJar() };
  for (const _ of ['first', 'again']) await logIn(browser);
  const { body } = await account.bySession.postJson<{ id: string }>('/api-keys', { name: 'other' });
  await account.bySession.request('GET', '/api-keys');
  await account.bySession.request('DELETE', `/api-keys/${body.id}`);
  const { body: sessions } = await account.bySession.request<{ items: { id: string; current: boolean }[] }>(
    'GET',
    '/auth/sessions',
  );
  const another = sessions.items.find(({ current }) => !current);
  await account.bySession.request('DELETE', `/auth/sessions/${another?.id}`);
  for (const [method, path] of [
    ['POST', '/auth/logout'],
    ['DELETE', '/auth/sessions'],
  ] as const) {
    const other = await service.newAccount();
    await forgetRecentUse(operator);
    await other.bySession.request(method, path);
  }
}

async function useFiles(): Promise<void> {
  const { byKey } = account;
  const retried = { 'idempotency-key': 'inline' };
  await byKey.upload('a', 'a', { headers: retried });
  const { body } = await byKey.upload('a', 'a', { headers: retried });
  for (const _ of [1, 2]) await uploadStreaming(account, 'b', 'b', { 'idempotency-key': 'streaming' });
  await uploadStreaming(account, 'large', LARGE);
  for (const query of ['', '?limit=1&page=2']) await byKey.request('GET', `/files${query}`);
  await findFarFiles();
  await byKey.request('GET', `/files/${body.id}`);
  await byKey.request('DELETE', `/files/${body.id}`);
  // The first of the 8,192 uploads of a group makes additional calls, and so does the last of the 64 uploads of a leaf.
  const ways = [() => byKey.upload('a', 'a'), () => uploadStreaming(account, 'a', 'a')];
  for (const upload of ways) {
    for (const skip of [nextSeqStartsGroup, nextSeqEndsLeaf]) {
      await skip(operator, account.id);
      await upload();
    }
  }
}

/** Searches for files that are far from each other in the list, some of them in a leaf that has lost its seal. */
async function findFarFiles(): Promise<void> {
  const other = await service.newAccount();
  const nameOf = (seq: number) => (seq % 64 === 5 ? 'far' : 'near');
  await generateFiles(operator.dynamoDb, service.tables, { accountId: other.id, count: 640, nameOf });
  const lost = { account_id: { S: other.id }, id: { S: '#names#00000000003' } };
  await operator.dynamoDb.send(new DeleteItemCommand({ TableName: service.tables.files, Key: lost }));
  await other.bySession.request('GET', '/files?search=far');
}

async function useTickets(): Promise<void> {
  const { byKey } = account;
  const { body: early } = await askForTicket(byKey, 'c', 1, { 'idempotency-key': 'ticket' });
  await askForTicket(byKey, 'c', 1, { 'idempotency-key': 'ticket' });
  expect((await complete(byKey, early)).status).toBe(409);
  await put(early, 'x');
  await nextSeqStartsGroup(operator, account.id);
  expect((await complete(byKey, early)).status).toBe(201);
  await byKey.request('DELETE', `/uploads/${(await arrived('cancelled')).id}`);
  await arrived('event', { 'idempotency-key': 'event' });
  await nextSeqStartsGroup(operator, account.id);
  await service.deliverEvents();
  service.holdEvents();
}

/** Makes uploads fail after their bytes were stored, so that the bytes are removed at once or by the sweeper. */
async function failUploads(): Promise<void> {
  const { byKey } = account;
  // A form with two files is refused when the first is stored already.
  const twoFiles = `${filePart()}${filePart()}--B--`;
  for (const body of [twoFiles, new Blob([twoFiles]).stream()]) {
    const init = { body, headers: { 'content-type': FORM }, duplex: 'half' } as RequestInit;
    expect((await byKey.request('POST', '/files', init)).status).toBe(400);
  }
  const unsettled: Fault = { match: { operation: 'TransactWriteItems' }, effect: 'error-before' };
  await uploadStreaming(account, 'too large', TOO_LARGE);
  const tickets = [await arrived('completed'), await arrived('arrived')];
  await withFault(service, unsettled, () => complete(byKey, tickets[0] as Ticket));
  await withFault(service, unsettled, () => service.deliverEvents());
  service.holdEvents();
  const large = await arrived('copied in parts', {}, COPIED_IN_PARTS);
  await withFault(service, broken('s3', 'UploadPartCopy'), async () => {
    await complete(byKey, large);
    // These parts are left to the sweeper.
    await withFault(service, broken('s3', 'AbortMultipartUpload'), () => complete(byKey, large));
  });
  await withFault(service, broken('s3', 'UploadPartCopy'), () => service.deliverEvents());
  service.holdEvents();
}

/** Cancels tickets after their bytes were copied and before they are settled, so that the copies are removed. */
async function loseRaces(): Promise<void> {
  const ways: [label: string, settle: (ticket: Ticket) => Promise<unknown>][] = [
    ['CompleteUploadFunction', (ticket) => complete(account.byKey, ticket)],
    ['CompleteArrivedUploadFunction', () => service.deliverEvents()],
  ];
  for (const [label, settle] of ways) {
    const ticket = await arrived('lost');
    const principal = service.lambda.find(label).roleArn.split('/').at(-1) ?? '';
    const conflict: Fault = { match: { principal, operation: 'TransactWriteItems' }, effect: 'conflict' };
    const settled = await withFault(service, conflict, async (fault) => {
      const settling = settle(ticket);
      await expect.poll(() => fault.hits).toBeGreaterThan(0);
      await account.byKey.request('DELETE', `/uploads/${ticket.id}`);
      return [settling];
    });
    await Promise.all(settled);
    service.holdEvents();
  }
  const ticket = await arrived('gone');
  const Key = `incoming/${account.id}/${ticket.id}`;
  await operator.s3.send(new DeleteObjectCommand({ Bucket: operator.bucket, Key }));
  await service.deliverEvents();
  service.holdEvents();
}

async function outliveTickets(): Promise<void> {
  const [settled] = [await arrived('settled'), await arrived('gone before its event')];
  expect((await complete(account.byKey, settled)).status).toBe(201);
  await operator.expireDeadlines();
  await operator.sweep();
  await account.byKey.request('DELETE', `/files/${settled.id}`);
  await service.deliverEvents();
  service.holdEvents();
}

async function leaveWork(): Promise<void> {
  await withFault(service, broken('s3', 'AbortMultipartUpload'), () =>
    uploadStreaming(account, 'too large', TOO_LARGE),
  );
  await withFault(service, broken('s3', 'PutObject'), () => account.byKey.upload('f', 'f'));
  await arrived('expired');
  await operator.expireDeadlines();
  await operator.sweep();
  await walkEverything(operator);
  await operator.sweep();
  // More rows than one look at the index takes, so that the sweeper asks each shard.
  await generateWork(operator.dynamoDb, service.tables, 1_001);
  await operator.sweep();
}

test('every granted action of every role is used', async () => {
  await useLoginsAndKeys();
  await useFiles();
  await useTickets();
  await failUploads();
  await loseRaces();
  await outliveTickets();
  await requestEveryRoute();
  await leaveWork();
  const unused = service.front
    .grantsUnused()
    // Other roles belong to CDK's helpers of a deployment. Lambda itself uses a role to write logs and send failed events.
    .filter(({ principal }) => /^FileHosting-local-(Api-\w+|Operations-\w+|Streaming-)Role[0-9A-F]{8}-/.test(principal))
    .filter(({ action }) => !/^(logs|sqs):/.test(action))
    .map(({ principal, action, resource }) => `${principal} ${action} ${resource}`);
  expect(unused).toEqual([]);
});
