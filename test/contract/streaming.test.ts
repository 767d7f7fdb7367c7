import { request } from 'node:http';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { FAST_BYTES_PER_SECOND } from '../../functions/upload-stream/places.ts';
import { generateKey } from '../../shared/api-keys/key-format.ts';
import {
  INLINE_BODY_MAX_BYTES,
  STREAMS_PER_ACCOUNT_MAX,
  UPLOAD_SLOWEST_BYTES_PER_SECOND,
} from '../../shared/limits.ts';
import { type Answer, client } from '../support/client.ts';
import { FORM } from '../support/forms.ts';
import { type Operator, operatorOf } from '../support/operator.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { limitStreamingPlaces } from '../support/template-edits.ts';
import { IS_THOROUGH } from '../support/thorough.ts';

/** The number of places of the streaming server. Three quarters of them are more than one account may take by its uploads. */
const PLACES = 24;
/** The limit of uploads per minute; a test uses it up. */
const UPLOADS_PER_MINUTE = 30;
/** Content that is too large for the inline lane. */
const LARGE = Buffer.alloc(INLINE_BODY_MAX_BYTES + 1, 'x');
const WAIT = { timeout: 20_000, interval: 50 };

let service: TestService;
let operator: Operator;
beforeAll(async () => {
  service = await startTestService(
    { RATE_LIMIT_UPLOADS_PER_MINUTE: String(UPLOADS_PER_MINUTE) },
    { edit: (templates) => limitStreamingPlaces(templates, { environments: 1, perEnvironment: PLACES }) },
  );
  operator = operatorOf(service);
});
afterAll(async () => {
  operator.close();
  await service.close();
});

interface SlowUpload {
  /** The status of the answer: undefined before it comes, 0 when the connection was cut. */
  readonly status: () => number | undefined;
  /** Sends the end of the form. @returns the status of the answer. */
  finish(): Promise<number>;
}

const open = new Set<{ readonly end: () => void }>();
afterEach(() => {
  for (const upload of open) upload.end();
  open.clear();
});

/**
 * Begins an upload without a Content-Length and goes on sending at a steady pace, by default the slowest that is accepted.
 * @param address  the client's local address.
 */
function beginUpload(
  key: string,
  address = '127.0.0.1',
  bytesPerSecond: number = UPLOAD_SLOWEST_BYTES_PER_SECOND,
): SlowUpload {
  const { port, host } = new URL(service.urls.base_url);
  const headers = { host, authorization: `Bearer ${key}`, 'content-type': FORM };
  const target = { port, host: '127.0.0.1', path: '/api/v1/files', method: 'POST' };
  const sent = request({ ...target, headers, localAddress: address, agent: false });
  let status: number | undefined;
  const answered = new Promise<number>((resolve) => {
    const settle = (value: number) => {
      clearInterval(trickle);
      status ??= value;
      resolve(status);
    };
    sent.on('response', (response) => settle(response.resume().statusCode ?? 0));
    sent.on('error', () => settle(0));
  });
  sent.write('--B\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n');
  const trickle = setInterval(() => sent.write('x'.repeat(bytesPerSecond / 4)), 250);
  const end = () => {
    clearInterval(trickle);
    sent.destroy();
  };
  open.add({ end });
  return {
    status: () => status,
    finish() {
      clearInterval(trickle);
      sent.end('\r\n--B--\r\n');
      return answered;
    },
  };
}

/** The number of uploads that an account is streaming. */
async function streamsOf({ id }: TestAccount): Promise<number> {
  const row = await operator.dynamoDb.send(
    new GetItemCommand({
      TableName: service.tables.rateLimits,
      Key: { id: { S: `streams#${id}` } },
      ConsistentRead: true,
    }),
  );
  return Object.keys(row.Item?.slots?.M ?? {}).length;
}

const ended = (uploads: readonly SlowUpload[]) => uploads.filter(({ status }) => status() !== undefined);
const newAccounts = (count: number) => Promise.all(Array.from({ length: count }, () => service.newAccount()));
/** The number of requests that the streaming server has answered with 401. */
const refusals = () => service.logs.filter((line) => /^UploadStream\S* .*"status":401/.test(line)).length;
const upload = ({ byKey }: Pick<TestAccount, 'byKey'>): Promise<Answer> => byKey.upload('large.bin', LARGE);

describe('contract: streaming when places are short', () => {
  // This test comes first, because the server must not have started yet. Its start takes so long that all places are taken before it
  // refuses the first request.
  test('fast clients with invalid keys do not prevent an account from uploading', async () => {
    const account = await service.newAccount();
    const before = refusals();
    const madeUp = generateKey('test');
    for (let stranger = 0; stranger < PLACES; stranger++) {
      beginUpload(madeUp, `127.0.0.${2 + (stranger % 4)}`, 2 * FAST_BYTES_PER_SECOND);
    }
    await expect.poll(refusals, WAIT).toBe(before + PLACES);
    for (let time = 0; time < 3; time++) expect((await upload(account)).status).toBe(201);
  });

  test('ten accounts that send at the slowest pace do not prevent an eleventh from uploading', async () => {
    const [honest, ...others] = (await newAccounts(11)) as [TestAccount, ...TestAccount[]];
    const [greedy, modest] = [others.slice(0, 7), others.slice(7)];
    const uploads = [...greedy, ...greedy, ...greedy].map(({ key }) => beginUpload(key));
    const modestUploads = modest.map(({ key }) => beginUpload(key));
    const streams = async () => (await Promise.all(others.map(streamsOf))).reduce((sum, count) => sum + count);
    const all = [...uploads, ...modestUploads];
    await expect.poll(async () => (await streams()) + ended(all).length, WAIT).toBe(PLACES);

    // All places were taken, so the server cuts uploads until a quarter of the places is free.
    await expect.poll(async () => (await upload(honest)).status, { ...WAIT, interval: 250 }).toBe(201);
    await expect.poll(() => ended(uploads).length, WAIT).toBeGreaterThanOrEqual(PLACES / 4);
    // The clients whose uploads were cut come back at once. Then the same number of uploads is cut again.
    const again = greedy.slice(0, PLACES / 4).map(({ key }) => beginUpload(key));
    await expect.poll(() => ended([...uploads, ...again]).length, WAIT).toBe(2 * (PLACES / 4));
    for (let time = 0; time < 3; time++) expect((await upload(honest)).status).toBe(201);

    // No account with a single upload has lost it.
    expect(ended(modestUploads)).toEqual([]);
    for (const { finish } of modestUploads) expect(await finish()).toBe(201);
  });

  test('one account can stream as many uploads at once as its limit allows, and the next one is 429', async () => {
    const account = await service.newAccount();
    const uploads = Array.from({ length: STREAMS_PER_ACCOUNT_MAX }, () => beginUpload(account.key));
    await expect.poll(() => streamsOf(account), WAIT).toBe(STREAMS_PER_ACCOUNT_MAX);
    expect(await upload(account)).toMatchObject({ status: 429, body: { error: 'rate_limit_exceeded' } });
    const statuses = await Promise.all(uploads.map(({ finish }) => finish()));
    expect(statuses).toEqual(Array(STREAMS_PER_ACCOUNT_MAX).fill(201));
  });

  test.for(IS_THOROUGH ? [2, 10, 20] : [20])(
    'other clients get their usual answers while %i slow clients with invalid keys are sending',
    async (count) => {
      const [account, limited] = (await newAccounts(2)) as [TestAccount, TestAccount];
      for (let time = 0; time < UPLOADS_PER_MINUTE; time++) await limited.byKey.upload('a', 'a');
      const before = refusals();
      const madeUp = generateKey('test');
      for (let stranger = 0; stranger < count; stranger++) beginUpload(madeUp, `127.0.0.${stranger + 2}`);
      await expect.poll(refusals, WAIT).toBe(before + count);

      const mistyped = client(service.urls.base_url, {
        key: `${account.key.slice(0, -1)}${account.key.endsWith('0') ? 1 : 0}`,
      });
      for (let time = 0; time < 3; time++) {
        expect(await upload({ byKey: mistyped })).toMatchObject({ status: 401, body: { error: 'unauthorized' } });
        expect(await upload(limited)).toMatchObject({ status: 429, body: { error: 'rate_limit_exceeded' } });
        expect((await upload(account)).status).toBe(201);
      }
    },
  );
});
