import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readBooks } from '../support/books.ts';
import { retryWhileBusy } from '../support/lanes.ts';
import { operatorOf } from '../support/operator.ts';
import { borrowTestService, startTestService, type TestAccount } from '../support/service.ts';
import { IS_THOROUGH } from '../support/thorough.ts';

const COMPLETIONS = IS_THOROUGH ? 240 : 30;
/** How many further PUTs are sent to the URL of each of five tickets. */
const PUTS = IS_THOROUGH ? 24 : 8;
/** A file of this size is copied in two parts at least. */
const LARGE_MIB = IS_THOROUGH ? 100 : 48;
const MIB = 1024 * 1024;

const service = await startTestService({
  RATE_LIMIT_UPLOADS_PER_MINUTE: '1000',
  RATE_LIMIT_REQUESTS_PER_MINUTE: '1000',
  STORAGE_LIMIT_BYTES: '1000',
});
const account = await service.newAccount();
afterAll(() => service.close());

interface Ticket {
  readonly id: string;
  readonly upload: { readonly method: string; readonly url: string; readonly headers: Record<string, string> };
  readonly expires_at: string;
}

async function ticketFor(content: string, more: object = {}, by = account): Promise<Ticket> {
  const request = { name: 'd.txt', mime_type: 'text/plain', size_bytes: content.length, ...more };
  const { status, body } = await by.byKey.postJson<Ticket>('/uploads', request);
  expect(status).toBe(202);
  return body;
}

const put = ({ upload }: Ticket, body: string | Uint8Array<ArrayBuffer>, headers = upload.headers) =>
  fetch(upload.url, { method: 'PUT', headers, body });
const complete = ({ id }: Ticket) => account.byKey.request('POST', `/uploads/${id}/complete`);

describe('contract: success', () => {
  test('a ticket is 202, its URL takes the bytes, and completing it makes the file', async () => {
    await service.holdEvents();
    const ticket = await ticketFor('direct');
    expect(ticket.upload.method).toBe('PUT');
    expect(Date.parse(ticket.expires_at) - Date.now()).toBeGreaterThan(14 * 60_000);
    expect((await account.byKey.request('GET', `/files/${ticket.id}`)).status).toBe(404);
    const early = await complete(ticket);
    expect([early.status, early.body]).toEqual([409, { error: 'upload_incomplete' }]);
    expect((await put(ticket, 'direct')).status).toBe(200);
    const { status, body } = await complete(ticket);
    expect(status).toBe(201);
    expect(body).toMatchObject({ id: ticket.id, name: 'd.txt', mime_type: 'text/plain', size_bytes: 6 });
    expect(await (await fetch(String(body.url))).text()).toBe('direct');
    expect((await complete(ticket)).body).toEqual(body);
    await service.deliverEvents();
    expect((await account.byKey.request('GET', `/files/${ticket.id}`)).body).toEqual(body);
  });

  test('the arrival of the bytes makes the file when the client never comes back', async () => {
    const ticket = await ticketFor('alone');
    await put(ticket, 'alone');
    await expect.poll(async () => (await account.byKey.request('GET', `/files/${ticket.id}`)).status).toBe(200);
  });

  test('cancelling a ticket releases its reserved bytes, and a later PUT is 412', async () => {
    const fresh = await service.newAccount();
    const ticket = await ticketFor('x'.repeat(1000), {}, fresh);
    expect((await fresh.byKey.upload('a', 'a')).status).toBe(403);
    const cancelled = await fresh.byKey.request('DELETE', `/uploads/${ticket.id}`);
    expect([cancelled.status, cancelled.body]).toEqual([200, { id: ticket.id, deleted: true }]);
    expect((await fresh.byKey.upload('a', 'a')).status).toBe(201);
    expect((await put(ticket, 'x'.repeat(1000))).status).toBe(412);
    expect((await fresh.byKey.request('GET', `/files/${ticket.id}`)).status).toBe(404);
    expect(await service.storedBytes(fresh.id)).toBe(1);
  });
});

describe('contract: sizes', () => {
  /** An account to which no test adds a file. */
  let stranger: TestAccount;
  beforeAll(async () => {
    stranger = await service.newAccount();
  });

  test('the URL of a ticket takes only the announced length, type and checksum, and only once', async () => {
    const checksum_sha256 = createHash('sha256').update('exact').digest('base64');
    const ticket = await ticketFor('exact', { checksum_sha256 });
    expect(Object.keys(ticket.upload.headers)).toEqual(['Content-Type', 'If-None-Match', 'x-amz-checksum-sha256']);
    for (const body of ['exac', 'exactly']) expect((await put(ticket, body)).status).toBe(403);
    const otherChecksum = { 'x-amz-checksum-sha256': createHash('sha256').update('EXACT').digest('base64') };
    expect((await put(ticket, 'EXACT', { ...ticket.upload.headers, ...otherChecksum })).status).toBe(403);
    expect((await put(ticket, 'exact', { ...ticket.upload.headers, 'content-type': 'text/html' })).status).toBe(403);
    expect((await put(ticket, 'EXACT')).status).toBe(400);
    expect((await put(ticket, 'exact')).status).toBe(200);
    expect((await put(ticket, 'exact')).status).toBe(412);
  });

  test.for([
    ['a negative size', 400, { size_bytes: -1 }],
    ['a fractional size', 400, { size_bytes: 1.5 }],
    ['a size as text', 400, { size_bytes: '5' }],
    ['a size over the size limit', 413, { size_bytes: 104_857_601 }],
    ['a size over the storage limit', 403, { size_bytes: 1001 }],
    ['a number as name', 400, { name: 7 }],
    ['no type', 400, { mime_type: undefined }],
    ['a checksum that is too short', 400, { checksum_sha256: 'short' }],
  ] as const)('a ticket request with %s is %i', async ([, status, change]) => {
    const request = { name: 'd', mime_type: 'text/plain', size_bytes: 5, ...change };
    expect((await stranger.byKey.postJson('/uploads', request)).status).toBe(status);
    expect(await service.rowsOf(stranger.id)).toEqual([]);
  });
});

describe('contract: direct uploads', () => {
  /** The number of calls since the mark that copied an object or a part of one. */
  const copies = (mark: number) =>
    service.front.meter
      .since(mark)
      .calls.filter(({ operation }) => operation === 'CopyObject' || operation === 'UploadPartCopy').length;

  test(`${COMPLETIONS} simultaneous completions of one ticket make one copy, and each answers with the file`, async () => {
    const fresh = await service.newAccount();
    const ticket = await ticketFor('many', {}, fresh);
    const mark = service.front.meter.mark();
    // The event of the bucket completes the ticket at the same time.
    expect((await put(ticket, 'many')).status).toBe(200);
    const answers = await Promise.all(
      Array.from({ length: COMPLETIONS }, () => fresh.byKey.request('POST', `/uploads/${ticket.id}/complete`)),
    );
    await service.invoker.idle();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body.url)).size).toBe(1);
    expect(copies(mark)).toBe(1);
    expect(service.invoker.failed).toEqual([]);
  });

  test('while one completion copies, another one waits and answers with the same file, and the event of the bucket does not fail', async () => {
    const fresh = await service.newAccount();
    const slow = service.front.faults.add({ match: { operation: 'CopyObject' }, effect: { delayMs: 1_000 } });
    const ticket = await ticketFor('slow', {}, fresh);
    const mark = service.front.meter.mark();
    await put(ticket, 'slow');
    const { status } = await fresh.byKey.request('POST', `/uploads/${ticket.id}/complete`);
    await service.invoker.idle();
    slow.remove();
    expect(status).toBe(201);
    expect(copies(mark)).toBe(1);
    expect(service.invoker.failed).toEqual([]);
  });

  // This test and the next one wait for slow copies at the same time, each in a service of its own.
  test.concurrent('a completion is 503 with Retry-After when another one copies for too long', async () => {
    service.holdEvents();
    const fresh = await service.newAccount();
    const ticket = await ticketFor('late', {}, fresh);
    await put(ticket, 'late');
    const released = Promise.withResolvers<void>();
    const effect = { answeredAfter: released.promise };
    const stuck = service.front.faults.add({ match: { operation: 'CopyObject' }, effect });
    const first = fresh.byKey.request('POST', `/uploads/${ticket.id}/complete`);
    await expect.poll(() => stuck.hits).toBe(1);
    const { status, body, headers } = await fresh.byKey.request('POST', `/uploads/${ticket.id}/complete`);
    expect([status, body]).toEqual([503, { error: 'service_unavailable' }]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    released.resolve();
    expect((await first).status).toBe(201);
    stuck.remove();
    await service.deliverEvents();
  });

  test.concurrent('a large direct upload is completed although the storage cannot copy it whole, and takes 2 s to copy a part', async ({
    onTestFinished,
  }) => {
    const roomy = await borrowTestService();
    onTestFinished(roomy.close);
    roomy.holdEvents();
    const { byKey } = await roomy.newAccount();
    const content = randomBytes(LARGE_MIB * MIB);
    const { body: ticket } = await byKey.postJson<Ticket>('/uploads', {
      name: 'large.bin',
      mime_type: 'application/octet-stream',
      size_bytes: content.length,
    });
    expect((await put(ticket, content)).status).toBe(200);
    // The storage copies 16 MiB per second: a part of 32 MiB takes 2 s.
    const s3 = (operation: string) => ({ service: 's3', operation }) as const;
    const whole = roomy.front.faults.add({ match: s3('CopyObject'), effect: 'error-before', mayNotApply: true });
    const parts = roomy.front.faults.add({ match: s3('UploadPartCopy'), effect: { delayMs: 2_000 } });
    const { status, body } = await retryWhileBusy(() => byKey.request('POST', `/uploads/${ticket.id}/complete`));
    expect(whole.hits).toBe(0);
    expect(parts.hits).toBeGreaterThan(1);
    expect([status, body]).toMatchObject([201, { id: ticket.id, size_bytes: content.length }]);
    const stored = await (await fetch(String(body.url))).arrayBuffer();
    expect(content.equals(Buffer.from(stored))).toBe(true);
  });

  test('a URL is 412 to every further PUT after its ticket was cancelled or completed, or its file deleted', async () => {
    const operator = operatorOf(service);
    const fresh = await service.newAccount();
    const tickets = await Promise.all(Array.from({ length: 6 }, () => ticketFor('again', {}, fresh)));
    const [unsent, sent, done, deleted, alone] = tickets as [Ticket, Ticket, Ticket, Ticket, Ticket, Ticket];
    const used = [unsent, sent, done, deleted, alone];
    for (const ticket of [sent, done, deleted, alone]) expect((await put(ticket, 'again')).status).toBe(200);
    for (const { id } of [done, deleted]) {
      expect((await fresh.byKey.request('POST', `/uploads/${id}/complete`)).status).toBe(201);
    }
    await service.invoker.idle();
    const remove = async (path: string) => (await fresh.byKey.request('DELETE', path)).status;
    expect([await remove(`/uploads/${unsent.id}`), await remove(`/files/${deleted.id}`)]).toEqual([200, 200]);
    // The event of its bytes may have completed it.
    const ends = [await remove(`/uploads/${sent.id}`), await remove(`/files/${sent.id}`)];
    expect(ends.toSorted()).toEqual([200, 404]);
    // An upload that is complete or cancelled cannot be cancelled; its file, if there is one, has the same id.
    for (const { id } of [unsent, sent, done, deleted]) expect(await remove(`/uploads/${id}`)).toBe(404);
    await service.invoker.idle();
    const stored = await service.storedBytes(fresh.id);
    const mark = service.front.meter.mark();
    const answers = await Promise.all(Array.from({ length: PUTS }, () => used.map((one) => put(one, 'again'))).flat());
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 5 * PUTS }, () => 412));
    await service.invoker.idle();
    const written = service.front.meter.since(mark).calls.filter(({ operation, status }) => {
      return operation !== 'GetItem' && status === 200;
    });
    expect(written).toEqual([]);
    expect(await service.storedBytes(fresh.id)).toBe(stored);

    await operator.expireDeadlines();
    expect((await operator.sweep()).failed).toBe(0);
    const { problems, unfinished, accountOf } = await readBooks(operator, fresh.id);
    operator.close();
    expect({ problems, unfinished }).toEqual({ problems: [], unfinished: [] });
    expect(accountOf(fresh.id)).toMatchObject({ usedBytes: 10, fileCount: 2 });
    expect(await service.storedBytes(fresh.id)).toBe(10);
  });

  test('a ticket of 100 MiB reserves its bytes for more than two hours, and its URL is valid for 15 minutes', async () => {
    const roomy = await borrowTestService();
    const { byKey, id } = await roomy.newAccount();
    const request = { name: 'd', mime_type: 'text/plain', size_bytes: 104_857_600 };
    const { body } = await byKey.postJson<Ticket>('/uploads', request);
    const [row] = await roomy.rowsOf(id);
    await roomy.close();
    expect(Date.parse(body.expires_at) - Date.now()).toBeLessThanOrEqual(15 * 60_000);
    expect(new URL(body.upload.url).searchParams.get('X-Amz-Expires')).toBe('900');
    const endsAt = Number((row as { ends_at: { N: string } }).ends_at.N);
    expect(endsAt - Date.now()).toBeGreaterThan(2 * 3_600_000);
  });
});
