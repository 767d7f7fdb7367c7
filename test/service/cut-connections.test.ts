import { afterAll, describe, expect, test } from 'vitest';
import { readBooks } from '../support/books.ts';
import { expectNoTrace } from '../support/expect-no-trace.ts';
import { FORM, filePart, part } from '../support/forms.ts';
import { askForTicket } from '../support/lanes.ts';
import { operatorOf } from '../support/operator.ts';
import { inChunks, rawRequest, sendAndDisconnect, sendRaw } from '../support/raw-http.ts';
import { startTestService, type TestAccount } from '../support/service.ts';
import { IS_THOROUGH } from '../support/thorough.ts';
import { walkEverything } from './fast-forward.ts';

/** Connections that end in the middle of a request. (multipart.test.ts and upload-clients.test.ts send whole requests with cut forms.) */

const limits = { RATE_LIMIT_UPLOADS_PER_MINUTE: '100000', RATE_LIMIT_REQUESTS_PER_MINUTE: '100000' };
const service = await startTestService(limits);
const operator = operatorOf(service);
afterAll(async () => {
  operator.close();
  await service.close();
});

const BODY = `${part('Content-Disposition: form-data; name="t"', 'x')}${filePart()}--B--\r\n`;
/** The shortest form that the edge sends to the streaming server although it has a length. */
const LARGE_BODY = `${filePart('y'.repeat(4_200_000))}--B--\r\n`;

type Sent = { readonly address: string; readonly whole: string };

const form = ({ key }: TestAccount, framing: string, body: string): Sent => ({
  address: service.urls.root_url,
  whole: rawRequest('POST /api/v1/files', [`Authorization: Bearer ${key}`, `Content-Type: ${FORM}`, framing], body),
});

/** The whole requests of an account. */
const LANES: Record<string, (account: TestAccount) => Sent | Promise<Sent>> = {
  'the inline lane': (account) => form(account, `Content-Length: ${BODY.length}`, BODY),
  'the streaming lane, without a length': (account) => form(account, 'Transfer-Encoding: chunked', inChunks(BODY, 50)),
  'the streaming lane, with a length': (account) => form(account, `Content-Length: ${LARGE_BODY.length}`, LARGE_BODY),
  async 'the PUT of a direct upload'(account) {
    const { upload } = (await askForTicket(account.byKey, 'a.txt', BODY.length)).body;
    const { pathname, search, origin } = new URL(upload.url);
    const headers = Object.entries(upload.headers).map(([name, value]) => `${name}: ${value}`);
    const lines = [...headers, `Content-Length: ${BODY.length}`];
    const whole = rawRequest(`PUT ${pathname}${search}`, lines, BODY).replace(
      'Host: localhost',
      `Host: ${new URL(origin).host}`,
    );
    return { address: origin, whole };
  },
  async 'the request for a ticket'({ key }) {
    const body = JSON.stringify({ name: 'a.txt', mime_type: 'text/plain', size_bytes: 7 });
    const headers = [
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    return { address: service.urls.root_url, whole: rawRequest('POST /api/v1/uploads', headers, body) };
  },
};

/** Where a request is cut: in `npm test` here and there, in the soak at every byte, and at few bytes in the middle of a large form. */
function cuts(length: number): number[] {
  const step = IS_THOROUGH ? 1 : 23;
  const isInside = (at: number) => at > 600 && at < length - 20;
  return Array.from({ length: length - 1 }, (_, index) => index + 1).filter((at) =>
    length > 10_000 && isInside(at) ? IS_THOROUGH && at % 500_000 === 0 : at % step === 0 || at > length - 4,
  );
}

describe.each(Object.keys(LANES))('%s, cut anywhere', (lane) => {
  test('stores and reserves nothing, is not answered as if it were whole, and leaves nothing behind', async () => {
    const account = await service.newAccount();
    const { address, whole } = await (LANES[lane] as (typeof LANES)[string])(account);
    const ways = cuts(whole.length).flatMap((at) => [
      // The client closes its half of the connection and waits for an answer; or it is gone.
      async () => {
        const answer = await sendRaw(address, whole.slice(0, at), { thenEnd: true });
        if (answer)
          expect({ at, status: answer.status }).toEqual({ at, status: expect.toSatisfy((status) => status >= 400) });
      },
      () => sendAndDisconnect(address, whole.slice(0, at)),
    ]);
    const left = ways.values();
    const worker = async () => {
      for (const way of left) await way();
    };
    await Promise.all(Array.from({ length: 6 }, worker));
    // A server may still be working on what it has read.
    await expect.poll(() => leftAfterSweep(account)).toEqual([]);
    // The same request is accepted when it is whole.
    const other = await (LANES[lane] as (typeof LANES)[string])(await service.newAccount());
    expect((await sendRaw(other.address, other.whole))?.status).toBeLessThan(300);
  });
});

/** What the requests of an account have left when the time of everything has passed, and the sweeper has run. */
async function leftAfterSweep(account: TestAccount): Promise<string[]> {
  await operator.expireDeadlines();
  await walkEverything(operator);
  await operator.sweep();
  const { problems, unfinished } = await readBooks(operator);
  const trace = await expectNoTrace(service, account).then(
    () => [],
    (error) => [String(error)],
  );
  return [...problems, ...unfinished, ...trace];
}
