import { GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LANES, type Lane } from '../../shared/metrics.ts';
import type { Answer } from '../support/client.ts';
import { FORM, filePart } from '../support/forms.ts';
import { askForTicket, complete, put, retryWhileBusy, uploadStreaming, uploadThrough } from '../support/lanes.ts';
import { keepFromMidnight, untilMidnightMs } from '../support/midnight.ts';
import { type Operator, operatorOf } from '../support/operator.ts';
import { rawRequest, sendAndDisconnect } from '../support/raw-http.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';

/** The limits of one account besides its storage: its number of files, and the bytes it sends in a day. */

const FILES = 3;
const BYTES_PER_DAY = 6_000_000;
/** The largest file: more than the inline lane takes, so that a form with a length can go through the streaming lane, too. */
const MAX_BYTES = 5_000_000;

let service: TestService;
let operator: Operator;

const LONGEST_RUN_MS = 600_000;

beforeAll(async () => {
  await keepFromMidnight(LONGEST_RUN_MS);
  service = await startTestService({
    FILE_COUNT_LIMIT: String(FILES),
    UPLOAD_BYTES_PER_DAY: String(BYTES_PER_DAY),
    MAX_UPLOAD_SIZE_BYTES: String(MAX_BYTES),
    RATE_LIMIT_UPLOADS_PER_MINUTE: '10000',
    RATE_LIMIT_REQUESTS_PER_MINUTE: '10000',
  });
  operator = operatorOf(service);
}, 2 * LONGEST_RUN_MS);
afterAll(async () => {
  operator.close();
  await service.close();
});

const outcome = ({ status, body }: Answer) => [status, body.error];
const statuses = (answers: readonly { readonly status: number }[]) => answers.map(({ status }) => status).sort();
const remove = ({ byKey }: TestAccount, { body }: Answer) =>
  retryWhileBusy(() => byKey.request('DELETE', `/files/${String(body.id)}`));
const bytes = (count: number) => Buffer.alloc(count, 'x');

async function fill(account: TestAccount, files = FILES): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let file = 0; file < files; file++) answers.push(await account.byKey.upload(`${file}.txt`, 'x'));
  expect(statuses(answers)).toEqual(answers.map(() => 201));
  return answers;
}

async function expectUsage({ bySession }: TestAccount, files: number, storedBytes: number): Promise<void> {
  const { body } = await bySession.request('GET', '/auth/me');
  expect(body).toMatchObject({ file_count: files, storage_used_bytes: storedBytes });
}

/** The bytes counted for an account today. */
async function sentBytes({ id }: TestAccount): Promise<number> {
  const command = { TableName: service.tables.accounts, Key: { id: { S: id } }, ConsistentRead: true };
  const { Item } = await operator.dynamoDb.send(new GetItemCommand(command));
  return Number(Item?.sent_bytes?.N ?? 0);
}

/** Sets one account's storage limit, as an operator can. */
async function setStorageLimit({ id }: TestAccount, limitBytes: number): Promise<void> {
  const command = {
    TableName: service.tables.accounts,
    Key: { id: { S: id } },
    UpdateExpression: 'SET storage_limit_bytes = :bytes',
    ExpressionAttributeValues: { ':bytes': { N: String(limitBytes) } },
  };
  await operator.dynamoDb.send(new UpdateItemCommand(command));
}

describe('contract: usage', () => {
  const limits = {
    storage_limit_bytes: 2_147_483_648,
    file_count_limit: FILES,
    sent_today_limit_bytes: BYTES_PER_DAY,
    upload_max_bytes: MAX_BYTES,
  };

  test('says what a key or a session has used and may use, before and after an upload and a ticket', async () => {
    const { byKey, bySession } = await service.newAccount();
    const unused = { ...limits, storage_used_bytes: 0, file_count: 0, sent_today_bytes: 0 };
    for (const by of [byKey, bySession]) {
      const { status, body } = await by.request('GET', '/usage');
      expect([status, body]).toEqual([200, unused]);
    }
    await byKey.upload('a', 'hello');
    await askForTicket(byKey, 'b', 10);
    const { body } = await byKey.request('GET', '/usage');
    // The rest of a form is under the 64 KiB that are counted.
    expect(body).toEqual({ ...limits, storage_used_bytes: 15, file_count: 1, sent_today_bytes: 15 });
  });

  test('says the limit that an operator has set for the account', async () => {
    const account = await service.newAccount();
    await setStorageLimit(account, 7_000_000);
    const { body } = await account.byKey.request('GET', '/usage');
    expect(body).toMatchObject({ storage_limit_bytes: 7_000_000, sent_today_limit_bytes: 7_000_000 });
  });
});

describe('contract: file count', () => {
  test.for(LANES)('in the %s lane the last file fits, and one more is 403 until a file is deleted', async (lane) => {
    const account = await service.newAccount();
    const [first] = await fill(account, FILES - 1);
    const last = await uploadThrough(lane, account, 'last', 'x');
    expect(last.status).toBe(201);
    expect(outcome(await uploadThrough(lane, account, 'more', 'x'))).toEqual([403, 'storage_limit_exceeded']);
    await remove(account, first as Answer);
    expect((await uploadThrough(lane, account, 'more', 'x')).status).toBe(201);
    await expectUsage(account, FILES, FILES);
  });

  test('exactly as many simultaneous uploads succeed as the limit has room for', async () => {
    const account = await service.newAccount();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        uploadThrough(index % 2 ? 'inline' : 'streaming', account, `${index}`, 'x'),
      ),
    );
    expect(statuses(answers)).toEqual([201, 201, 201, 403, 403, 403, 403, 403]);
    await expectUsage(account, FILES, FILES);
  });

  test('completing a direct upload when the account is full is 403, and releases its reserved bytes', async () => {
    const account = await service.newAccount();
    service.holdEvents();
    const ticket = await askForTicket(account.byKey, 'late', 10);
    expect(await put(ticket.body, 'x'.repeat(10))).toBe(200);
    const [first] = await fill(account);
    expect(outcome(await complete(account.byKey, ticket.body))).toEqual([403, 'storage_limit_exceeded']);
    await expectUsage(account, FILES, FILES);
    await service.deliverEvents();
    await remove(account, first as Answer);
    // The ticket has become `refused`. Until it ends, each completion gets this answer, even if the account has room again.
    expect(outcome(await complete(account.byKey, ticket.body))).toEqual([403, 'storage_limit_exceeded']);
    await expectUsage(account, FILES - 1, FILES - 1);
  });

  test('a direct upload whose bytes arrive when the account is full releases its reserved bytes', async () => {
    const account = await service.newAccount();
    service.holdEvents();
    const ticket = await askForTicket(account.byKey, 'late', 10);
    expect(await put(ticket.body, 'x'.repeat(10))).toBe(200);
    await fill(account);
    await expectUsage(account, FILES, FILES + 10);
    await service.deliverEvents();
    await expectUsage(account, FILES, FILES);
    // The event of the bucket has made the ticket `refused`. The client gets the reason nevertheless.
    expect(outcome(await complete(account.byKey, ticket.body))).toEqual([403, 'storage_limit_exceeded']);
  });

  test('two direct uploads that are completed at the same time with room for one file make one file', async () => {
    const account = await service.newAccount();
    service.holdEvents();
    await fill(account, FILES - 1);
    const tickets = [await askForTicket(account.byKey, 'a', 1), await askForTicket(account.byKey, 'b', 1)];
    for (const { body } of tickets) expect(await put(body, 'x')).toBe(200);
    const answers = await Promise.all(tickets.map(({ body }) => retryWhileBusy(() => complete(account.byKey, body))));
    expect(statuses(answers)).toEqual([201, 403]);
    await service.deliverEvents();
    await expectUsage(account, FILES, FILES);
  });
});

describe('contract: bytes a day', () => {
  /** Sends all the bytes that an account may send today, and deletes the files. */
  async function useUpDay(account: TestAccount): Promise<void> {
    await remove(account, await account.byKey.upload('half', bytes(BYTES_PER_DAY / 2)));
    await remove(account, await uploadStreaming(account, 'half', bytes(BYTES_PER_DAY / 2)));
  }

  test('an account can send exactly the bytes of a day, even if it deletes them; one more is 429 until the day ends', async () => {
    const account = await service.newAccount();
    await useUpDay(account);
    const untilMidnight = untilMidnightMs() / 1_000;
    const refused = await account.byKey.upload('more', 'x');
    expect(outcome(refused)).toEqual([429, 'rate_limit_exceeded']);
    const retryAfter = Number(refused.headers.get('retry-after'));
    expect(Math.abs(retryAfter - untilMidnight)).toBeLessThan(60);
    expect(refused.headers.get('ratelimit-policy')).toBe('"uploads";q=10000;w=60');
    expect(refused.headers.get('ratelimit')).toMatch(/^"uploads";r=99\d\d;t=\d+$/);
    expect(outcome(await uploadStreaming(account, 'more', 'x'))).toEqual([429, 'rate_limit_exceeded']);
    const ticket = await askForTicket(account.byKey, 'more', 1);
    expect([ticket.status, ticket.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect((await account.byKey.upload('empty', '')).status).toBe(201);
    const other = await service.newAccount();
    expect((await other.byKey.upload('other', 'x')).status).toBe(201);
  });

  test('exactly as many simultaneous uploads succeed as the day has bytes for', async () => {
    const account = await service.newAccount();
    const size = BYTES_PER_DAY / 2;
    const lanes: Lane[] = ['inline', 'streaming', 'inline', 'streaming'];
    const answers = await Promise.all(lanes.map((lane, at) => uploadThrough(lane, account, `${at}`, bytes(size))));
    expect(statuses(answers)).toEqual([201, 201, 429, 429]);
    await expectUsage(account, 2, 2 * size);
  });

  test('the size of a direct upload counts when its ticket is issued, even if the ticket is cancelled', async () => {
    const account = await service.newAccount();
    const ticket = await askForTicket(account.byKey, 'big', MAX_BYTES);
    await account.byKey.request('DELETE', `/uploads/${ticket.body.id}`);
    expect(await sentBytes(account)).toBe(MAX_BYTES);
    const rest = await askForTicket(account.byKey, 'rest', BYTES_PER_DAY - MAX_BYTES + 1);
    expect(rest.status).toBe(429);
    expect((await askForTicket(account.byKey, 'rest', BYTES_PER_DAY - MAX_BYTES)).status).toBe(202);
  });

  test('a retry with the same Idempotency-Key gets its file even when the day is used up, and its bytes count', async () => {
    const account = await service.newAccount();
    const key = { headers: { 'Idempotency-Key': 'once' } };
    const first = await account.byKey.upload('once', bytes(1_000_000), key);
    expect((await account.byKey.upload('rest', bytes(BYTES_PER_DAY - 2_000_000))).status).toBe(201);
    for (let time = 1; time <= 2; time++) {
      const again = await account.byKey.upload('once', bytes(1_000_000), key);
      expect([again.status, again.headers.get('idempotency-replayed'), again.body]).toEqual([201, 'true', first.body]);
    }
    expect(await sentBytes(account)).toBeGreaterThanOrEqual(BYTES_PER_DAY + 1_000_000);
    expect((await account.byKey.upload('more', 'x')).status).toBe(429);
  });

  describe('the bytes read of an upload', () => {
    test('count when the file is over the size limit', async () => {
      const account = await service.newAccount();
      expect((await uploadStreaming(account, 'big', bytes(MAX_BYTES + 100_000))).status).toBe(413);
      expect(await sentBytes(account)).toBeGreaterThan(MAX_BYTES + 100_000);
      expect((await account.byKey.upload('next', bytes(1_000_000))).status).toBe(429);
    });

    test('count when the file is over the storage limit and its body is discarded', async () => {
      const account = await service.newAccount();
      await setStorageLimit(account, 1_000_000);
      const upload = () => account.byKey.upload('big', bytes(MAX_BYTES - 1_000));
      expect(outcome(await upload())).toEqual([403, 'storage_limit_exceeded']);
      expect(await sentBytes(account)).toBeGreaterThan(MAX_BYTES - 1_000);
      expect(outcome(await upload())).toEqual([403, 'storage_limit_exceeded']);
      // Now the bytes of the day are used up. They are checked before the storage.
      expect(outcome(await upload())).toEqual([429, 'rate_limit_exceeded']);
    });

    test('count when the file is larger than the bytes left of the day', async () => {
      const account = await service.newAccount();
      await uploadStreaming(account, 'big', bytes(MAX_BYTES + 100_000));
      const before = await sentBytes(account);
      expect((await uploadStreaming(account, 'more', bytes(MAX_BYTES))).status).toBe(429);
      expect(await sentBytes(account)).toBeGreaterThanOrEqual(before + MAX_BYTES);
    });

    test('count when they belong to large fields beside the file', async () => {
      const account = await service.newAccount();
      const padding = `--B\r\nContent-Disposition: form-data; name="padding"\r\n\r\n${'p'.repeat(500_000)}\r\n`;
      const answer = await account.byKey.request('POST', '/files', {
        headers: { 'content-type': FORM },
        body: `${padding}${filePart('x')}--B--\r\n`,
      });
      expect(answer.status).toBe(201);
      expect(await sentBytes(account)).toBeGreaterThan(500_000);
    });

    test('count when the form is rejected for its second file', async () => {
      const account = await service.newAccount();
      const body = `${filePart('x'.repeat(100_000))}${filePart('y')}--B--`;
      const answer = await account.byKey.request('POST', '/files', { body, headers: { 'content-type': FORM } });
      expect(answer.status).toBe(400);
      expect(await sentBytes(account)).toBe(body.length);
    });

    test('count when the connection is cut', async () => {
      const account = await service.newAccount();
      const headers = [`Authorization: Bearer ${account.key}`, `Content-Type: ${FORM}`, 'Content-Length: 4900000'];
      const sent = filePart('x'.repeat(2_000_000));
      await sendAndDisconnect(service.urls.base_url, rawRequest('POST /api/v1/files', headers, sent));
      await expect.poll(() => sentBytes(account)).toBeGreaterThan(64 * 1024);
      expect(await sentBytes(account)).toBeLessThanOrEqual(sent.length);
    });

    test('do not count when the body is rejected and smaller than 64 KiB', async () => {
      const account = await service.newAccount();
      const body = `${filePart('x'.repeat(60_000))}${filePart('y')}--B--`;
      const answer = await account.byKey.request('POST', '/files', { body, headers: { 'content-type': FORM } });
      expect(answer.status).toBe(400);
      expect(await sentBytes(account)).toBe(0);
    });

    test('may stay uncounted, but the client gets the same answer, when DynamoDB does not respond', async () => {
      const account = await service.newAccount();
      const match = { service: 'dynamodb', operation: 'UpdateItem', table: service.tables.accounts } as const;
      const fault = service.front.faults.add({ match, effect: 'timeout' });
      const answer = await uploadStreaming(account, 'big', bytes(MAX_BYTES + 100_000));
      fault.remove();
      expect([answer.status, fault.hits]).toEqual([413, 1]);
      expect(service.logs.some((line) => line.includes('discarded bytes not counted'))).toBe(true);
    });
  });
});
