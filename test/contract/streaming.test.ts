import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { FAST_BYTES_PER_SECOND } from '../../functions/upload-stream/places.ts';
import { generateKey } from '../../shared/api-keys/key-format.ts';
import {
  INLINE_BODY_MAX_BYTES,
  STREAMING_PLACES_PER_ENVIRONMENT as PLACES,
  UPLOAD_SLOWEST_BYTES_PER_SECOND as SLOWEST,
  STREAMING_PLACES_PER_ACCOUNT,
} from '../../shared/contract/limits.ts';
import { type Answer, client } from '../support/client.ts';
import { FORM } from '../support/forms.ts';
import { retryWhileBusy } from '../support/lanes.ts';
import { startTestService, type TestAccount } from '../support/service.ts';
import { limitStreamingEnvironments } from '../support/template-edits.ts';
import { IS_THOROUGH } from '../support/thorough.ts';

/** While no more places than these are taken, nothing is cut. */
const PLENTY = (PLACES * 3) / 4;
/** The limit of uploads per minute; a test uses it up. */
const UPLOADS_PER_MINUTE = 30;
/** Content that is too large for the inline lane. */
const LARGE = Buffer.alloc(INLINE_BODY_MAX_BYTES + 1, 'x');
const WAIT = { interval: 50 };

const service = await startTestService(
  { RATE_LIMIT_UPLOADS_PER_MINUTE: String(UPLOADS_PER_MINUTE) },
  { edit: limitStreamingEnvironments },
);
afterAll(() => service.close());

interface SlowUpload {
  /** The status of the answer: undefined before it comes, 503 when the server has cut the body, 0 when the connection broke. */
  readonly status: () => number | undefined;
  /** Sends the end of the form. @returns the status of the answer. */
  finish(): Promise<number>;
}

const open = new Set<{ readonly end: () => void }>();
afterEach(() => {
  for (const upload of open) upload.end();
  open.clear();
});

interface Sending {
  /** By default a slow rate that is accepted. */
  readonly bytesPerSecond?: number;
  /** The content that is sent with the beginning of the form. */
  readonly firstBytes?: number;
  /** The client's local address. */
  readonly address?: string;
  /** Headers of the file part. */
  readonly partHeaders?: string;
}

/** Begins an upload without a Content-Length and goes on sending at a steady rate. */
function beginUpload(
  key: string,
  { bytesPerSecond = 2 * SLOWEST, firstBytes = 0, address = '127.0.0.1', partHeaders = '' }: Sending = {},
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
  const head = `--B\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n${partHeaders}\r\n`;
  sent.write(head + 'x'.repeat(firstBytes));
  // On a busy machine the timer is late. Each time sends what is due by then, so that the rate is kept.
  const begunAt = performance.now();
  let sentBytes = 0;
  const trickle = setInterval(() => {
    const due = Math.floor(((performance.now() - begunAt) / 1_000) * bytesPerSecond) - sentBytes;
    sentBytes += due;
    if (due > 0) sent.write('x'.repeat(due));
  }, 250);
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

const ended = (uploads: readonly SlowUpload[]) => uploads.filter(({ status }) => status() !== undefined);
const beginMany = (key: string, count: number, sending?: Sending) =>
  Array.from({ length: count }, () => beginUpload(key, sending));
const newAccounts = (count: number) => Promise.all(Array.from({ length: count }, () => service.newAccount()));
/** The number of requests that the streaming server has refused with a status. The line comes before the rest of the body is read. */
const refusals = (status: number) =>
  service.logs.filter((line) => /^UploadStream\S* /.test(line) && line.includes(`"status":${status}`)).length;
/** On a busy machine the database may not answer in time whether there is such a key. */
const strangersRefused = () => refusals(401) + refusals(503);
const upload = ({ byKey }: Pick<TestAccount, 'byKey'>): Promise<Answer> => byKey.upload('large.bin', LARGE);
/**
 * Uploads until the answer says something of the account. Where others hold all places, ten tries are over before their bodies are cut for
 * taking too long.
 */
const uploadBeside = (account: Pick<TestAccount, 'byKey'>): Promise<Answer> => retryWhileBusy(() => upload(account));

describe('contract: streaming when places are short', () => {
  // This test comes first, because the server must not have started yet. Its start takes so long that all places are taken before it
  // refuses the first request.
  test('fast clients with invalid keys do not prevent an account from uploading', async () => {
    const account = await service.newAccount();
    const before = strangersRefused();
    const madeUp = generateKey('test');
    for (let stranger = 0; stranger < PLACES; stranger++) {
      beginUpload(madeUp, { address: `127.0.0.${2 + (stranger % 4)}`, bytesPerSecond: 1.25 * FAST_BYTES_PER_SECOND });
    }
    await expect.poll(strangersRefused, WAIT).toBeGreaterThanOrEqual(before + PLACES);
    for (let time = 0; time < 3; time++) expect((await uploadBeside(account)).status).toBe(201);
  });

  test('accounts that take all places by slow uploads do not prevent another from uploading', async () => {
    const [honest, ...greedy] = (await newAccounts(1 + PLACES / STREAMING_PLACES_PER_ACCOUNT)) as [
      TestAccount,
      ...TestAccount[],
    ];
    const uploads = greedy.flatMap(({ key }) => beginMany(key, STREAMING_PLACES_PER_ACCOUNT));
    // All places were taken, so the server cuts uploads until a quarter of the places is free.
    await expect.poll(() => ended(uploads).length, WAIT).toBeGreaterThanOrEqual(PLACES - PLENTY);
    await expect.poll(async () => (await upload(honest)).status, { ...WAIT, interval: 250 }).toBe(201);
    // Clients whose uploads were cut come back at once. Then as many uploads are cut again.
    const again = greedy.flatMap(({ key }) => beginMany(key, 4));
    await expect
      .poll(() => ended([...uploads, ...again]).length, WAIT)
      .toBeGreaterThanOrEqual(PLACES - PLENTY + again.length);
    for (let time = 0; time < 3; time++) expect((await upload(honest)).status).toBe(201);
  });

  test.for([
    ['whose key is invalid', 401, async () => ({ key: generateKey('test'), partHeaders: '' })],
    [
      'that is refused while the server reads it',
      400,
      async () => ({ key: (await service.newAccount()).key, partHeaders: 'Content-Transfer-Encoding: base64\r\n' }),
    ],
  ] as const)('a form %s is cut before the slowest upload', async ([, status, sender]) => {
    const before = refusals(status);
    const { key, partHeaders } = await sender();
    const refused = beginUpload(key, { partHeaders, bytesPerSecond: 6 * SLOWEST });
    await expect.poll(() => refusals(status), WAIT).toBe(before + 1);
    const accounts = await newAccounts(3);
    const uploads = accounts.flatMap(({ key }) => beginMany(key, PLENTY / accounts.length));
    await expect.poll(refused.status, WAIT).toBe(503);
    expect(await Promise.all(uploads.map(({ finish }) => finish()))).toEqual(Array(PLENTY).fill(201));
  });

  test('the slowest upload is cut before the others', async () => {
    const accounts = await newAccounts(3);
    const ahead = { firstBytes: FAST_BYTES_PER_SECOND };
    const begin = (count: number) => accounts.flatMap(({ key }) => beginMany(key, count, ahead));
    const slowest = beginUpload((accounts[0] as TestAccount).key, { bytesPerSecond: 0 });
    const others = begin(11);
    // The rate of an upload counts only when the server has waited two seconds for its bytes. It waits for those of the slowest all the time
    // since it has taken it, which it has when another upload is answered. So places get short only when the rate of the slowest is known.
    expect((await upload(accounts[1] as TestAccount)).status).toBe(201);
    await sleep(3_000);
    others.push(...begin(1));
    await expect.poll(slowest.status, WAIT).toBe(503);
    expect(await Promise.all(others.map(({ finish }) => finish()))).toEqual(Array(PLENTY).fill(201));
  });

  test('of the large forms that one account sends at once, 16 are taken and the next is 429, while another account uploads', async () => {
    const [account, another] = (await newAccounts(2)) as [TestAccount, TestAccount];
    const before = refusals(429);
    const uploads = beginMany(account.key, STREAMING_PLACES_PER_ACCOUNT + 1);
    await expect.poll(() => refusals(429), WAIT).toBe(before + 1);
    const retried = await upload(account);
    expect(retried).toMatchObject({ status: 429, body: { error: 'rate_limit_exceeded' } });
    expect(retried.headers.get('retry-after')).toBe('5');
    expect((await upload(another)).status).toBe(201);
    const statuses = await Promise.all(uploads.map(({ finish }) => finish()));
    expect(statuses.sort()).toEqual([...Array(STREAMING_PLACES_PER_ACCOUNT).fill(201), 429]);
    expect((await upload(account)).status).toBe(201);
  });

  test.for(IS_THOROUGH ? [2, 20, 40] : [40])(
    'other clients get their usual answers while %i slow clients with invalid keys are sending',
    async (count) => {
      const [account, limited] = (await newAccounts(2)) as [TestAccount, TestAccount];
      /** Sends a large upload when the account is at its limit, which the account reaches again when a minute has passed meanwhile. */
      const uploadAtLimit = async (): Promise<Answer> => {
        while ((await limited.byKey.upload('a', 'a')).status === 201);
        const answer = await uploadBeside(limited);
        return answer.status === 201 ? uploadAtLimit() : answer;
      };
      const before = strangersRefused();
      const madeUp = generateKey('test');
      for (let stranger = 0; stranger < count; stranger++) beginUpload(madeUp, { address: `127.0.0.${stranger + 2}` });
      await expect.poll(strangersRefused, WAIT).toBeGreaterThanOrEqual(before + count);

      const mistyped = client(service.urls.base_url, {
        key: `${account.key.slice(0, -1)}${account.key.endsWith('0') ? 1 : 0}`,
      });
      for (let time = 0; time < 3; time++) {
        expect(await uploadBeside({ byKey: mistyped })).toMatchObject({ status: 401, body: { error: 'unauthorized' } });
        expect(await uploadAtLimit()).toMatchObject({ status: 429, body: { error: 'rate_limit_exceeded' } });
        expect((await uploadBeside(account)).status).toBe(201);
      }
    },
  );
});
