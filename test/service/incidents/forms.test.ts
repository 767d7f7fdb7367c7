import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { expectCloudFrontError, expectError } from '../../support/expect-error.ts';
import { operatorOf } from '../../support/operator.ts';
import { inChunks, type RawAnswer, rawRequest, sendAndDisconnect, sendRaw } from '../../support/raw-http.ts';
import { startTestService, type TestAccount } from '../../support/service.ts';
import { expectUnharmed } from './unharmed.ts';

/** Forms that crashed services like this one, sent over HTTP. */

const MAX_BYTES = 6_000_000;

const service = await startTestService({
  MAX_UPLOAD_SIZE_BYTES: String(MAX_BYTES),
  RATE_LIMIT_UPLOADS_PER_MINUTE: '1000',
});
const operator = operatorOf(service);
/** Sends the forms that must be accepted. */
const account = await service.newAccount();
/** Sends the forms that must be rejected. */
const rejected = await service.newAccount();
afterAll(async () => {
  operator.close();
  await service.close();
});
afterEach(async () => {
  const books = await expectUnharmed(operator);
  expect(books.accountOf(rejected.id)).toEqual({ usedBytes: 0, fileCount: 0, names: [] });
});

const send = (bytes: string) => sendRaw(service.urls.root_url, bytes);

/** A form up to 4 MiB with its length goes through the inline lane, every other one through the streaming server. */
type Framing = 'with its length' | 'in chunks';

function uploadRequest(by: TestAccount, framing: Framing, body: string, boundary = 'B'): string {
  const headers = [`Authorization: Bearer ${by.key}`, `Content-Type: multipart/form-data; boundary=${boundary}`];
  return framing === 'with its length'
    ? rawRequest('POST /api/v1/files', [...headers, `Content-Length: ${body.length}`], body)
    : rawRequest('POST /api/v1/files', [...headers, 'Transfer-Encoding: chunked'], inChunks(body, 65_536));
}

const upload = (by: TestAccount, framing: Framing, body: string) => send(uploadRequest(by, framing, body));
const part = (headers: string, content = 'x') => `--B\r\n${headers}\r\n\r\n${content}\r\n`;
const field = (name: string) => part(`Content-Disposition: form-data; name="${name}"`);
const FILE = 'Content-Disposition: form-data; name="file"; filename="a.txt"';

/** Expects a 201 with exactly the contract's six fields. */
function expectFile(answer: RawAnswer | undefined, name = 'a.txt') {
  const file = JSON.parse(answer?.text ?? '');
  expect({ status: answer?.status, ...file }).toEqual({
    status: 201,
    id: expect.any(String),
    name,
    mime_type: 'text/plain',
    size_bytes: 7,
    url: expect.any(String),
    created_at: expect.any(String),
  });
  return file as { id: string; url: string };
}

describe.for<Framing>(['with its length', 'in chunks'])('a form %s', (framing) => {
  test.for([
    ['CVE-2020-8136, CVE-2021-23597 (fastify-multipart): a field __proto__', field('__proto__')],
    ['CVE-2021-23597 (fastify-multipart): a field constructor', field('constructor')],
    ['CVE-2026-56763 (hono): a field __proto__.x', field('__proto__.x')],
    ['CVE-2026-5079 (multer): a field nested 4,000 deep', field(`a${'[b]'.repeat(4_000)}`)],
    ['CVE-2026-77078 (multer): a field with a huge index, then a push', field('a[4294967295]') + field('a[]')],
    ['CVE-2026-128842 (@fastify/busboy): a field of malformed escapes', field('%zz'.repeat(1_000))],
    ['CVE-2026-19481 (@fastify/busboy): a part header __proto__', part(`__proto__: x\r\n${field('a').slice(5, -7)}`)],
    ['CVE-2026-19481 (@fastify/busboy): a part header constructor', part('constructor: x')],
  ] as const)('%s is ignored', async ([, odd]) => {
    expectFile(await upload(account, framing, `${odd}${part(FILE, 'content')}${odd}--B--`));
  });

  test.for([
    ['CVE-2025-48997 (multer): an empty field name', 'Content-Disposition: form-data; name=""; filename="a.txt"'],
    ['CVE-2020-8136: a field name __proto__', 'Content-Disposition: form-data; name="__proto__"; filename="a.txt"'],
    ['CVE-2026-19481: a header __proto__', `__proto__: x\r\n${FILE}`],
    ['CVE-2026-19481: a parameter constructor', `${FILE}; constructor="x"`],
    ['CVE-2026-74866 (@fastify/busboy): a bare CR in its field', FILE.replace('"file"', '"f\rX-Evil: 1"')],
  ] as const)('%s does not hide the file', async ([, headers]) => {
    expectFile(await upload(account, framing, `${part(headers, 'content')}--B--`));
  });

  test.for(['\r', '\n'])('CVE-2026-74866 (@fastify/busboy): a bare %j in a name opens no header', async (lineBreak) => {
    const name = `a${lineBreak}X-Evil: 1${lineBreak}${lineBreak}.txt`;
    const answer = await upload(account, framing, `${part(FILE.replace('a.txt', name), 'content')}--B--`);
    const { url } = expectFile(answer, 'aX-Evil: 1.txt');
    const link = await fetch(url);
    expect([link.headers.get('x-evil'), await link.text()]).toEqual([null, 'content']);
  });

  test.for([
    ['CVE-2023-25576 (@fastify/multipart): a list of 100,000 empty parts', part('', '').repeat(100_000) + part(FILE)],
    [
      'CVE-2022-24434 (dicer): a header that begins with a space',
      part(' Content-Disposition: form-data; name="x"', ''),
    ],
    ['CVE-2025-7338, -47944 (multer): no line break after the boundary', '--B'],
    ['CVE-2025-47944 (multer): a header without its end', `--B\r\n${FILE}`],
    ['CVE-2025-47944 (multer): a closing delimiter in the headers', `--B\r\n${FILE}\r\n--B--\r\n`],
    ['CVE-2026-3520 (multer): nothing but delimiters', '--B\r\n'.repeat(50_000)],
  ] as const)('%s is rejected', async ([, body]) => {
    expectError(await upload(rejected, framing, `${body}--B--`), 'invalid_request');
  });

  test('CVE-2026-19484 (@fastify/busboy): a boundary of 252 bytes is rejected', async () => {
    const boundary = 'b'.repeat(252);
    const body = `--${boundary}\r\n${FILE}\r\n\r\ncontent\r\n--${boundary}--`;
    expectError(await send(uploadRequest(rejected, framing, body, boundary)), 'invalid_request');
  });

  test.for([
    ['GHSA-3p4h-7m6x-2hcm (multer), CVE-2025-24033 (@fastify/multipart): a client that cancels', 1_000_000],
    ['CVE-2025-47935 (multer): a stream that breaks after its first stored part', 5_500_000],
    ['CVE-2026-18549 (@fastify/multipart): a file that is too large and then breaks off', MAX_BYTES + 100_000],
  ] as const)('%s stores nothing', async ([, bytes]) => {
    const whole = uploadRequest(rejected, framing, `${part(FILE, 'x'.repeat(bytes + 200_000))}--B--`);
    const left = service.logs.filter(isAbandoned).length;
    await sendAndDisconnect(service.urls.root_url, whole.slice(0, whole.length - 100_000));
    await expect.poll(() => service.logs.filter(isAbandoned).length).toBeGreaterThan(left);
  });
});

/** A log line of a request whose client disconnected before it was answered. */
const isAbandoned = (line: string) => /^\{.*"path":"\/api\/v1\/files","status":0,/.test(line);

describe('a form with a wrong length is rejected:', () => {
  const form = `${part(FILE, 'y'.repeat(1_000))}--B--`;
  const headers = (...lengths: string[]) => [
    `Authorization: Bearer ${rejected.key}`,
    'Content-Type: multipart/form-data; boundary=B',
    ...lengths,
  ];

  test('CVE-2026-54288 (hono): a Content-Length of 10 and a larger body', async () => {
    expectCloudFrontError(await send(rawRequest('POST /api/v1/files', headers('Content-Length: 10'), form)), 400);
  });

  test('CVE-2025-59139 (hono): Content-Length and Transfer-Encoding together', async () => {
    const chunked = inChunks(form, 100);
    for (const lengths of [
      ['Content-Length: 10', 'Transfer-Encoding: chunked'],
      ['Transfer-Encoding: chunked', 'Content-Length: 10'],
    ]) {
      expectCloudFrontError(await send(rawRequest('POST /api/v1/files', headers(...lengths), chunked)), 400);
    }
  });

  test('CVE-2026-44456 (hono): a chunked body that is too large, even on a route without a body', async () => {
    const large = inChunks(`${part(FILE, 'y'.repeat(MAX_BYTES + 1))}--B--`, 65_536);
    const chunked = headers('Transfer-Encoding: chunked');
    expectError(await send(rawRequest('POST /api/v1/files', chunked, large)), 'file_too_large');
    expectError(await send(rawRequest('DELETE /api/v1/files/x', chunked, large)), 'length_required');
  });
});
