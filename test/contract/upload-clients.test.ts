import { afterAll, describe, expect, test } from 'vitest';
import { type CapturedUpload, capturedUploads } from '../shared/upload-form/captured.ts';
import { expectError } from '../support/expect-error.ts';
import { expectNoTrace } from '../support/expect-no-trace.ts';
import { inChunks, type RawAnswer, rawRequest, sendRaw } from '../support/raw-http.ts';
import { borrowTestService, type TestAccount } from '../support/service.ts';
import { IS_THOROUGH } from '../support/thorough.ts';

const service = await borrowTestService();
afterAll(() => service.close());

/** Sends the raw bytes of a form: inline with a Content-Length, or streaming in chunks without one. */
function send(
  by: TestAccount,
  form: { readonly contentType: string; readonly body: Buffer },
  lane: 'inline' | 'streaming',
): Promise<RawAnswer | undefined> {
  const isInline = lane === 'inline';
  const length = isInline ? `Content-Length: ${form.body.length}` : 'Transfer-Encoding: chunked';
  const headers = [`Authorization: Bearer ${by.key}`, `Content-Type: ${form.contentType}`, length];
  const body = form.body.toString('latin1');
  const framed = isInline ? body : inChunks(body, 50);
  return sendRaw(service.urls.root_url, rawRequest('POST /api/v1/files', headers, framed));
}

/** Runs `work` for each thing, at most six at once. */
async function forEach<T>(things: readonly T[], work: (thing: T) => Promise<void>): Promise<void> {
  const left = things.values();
  const worker = async () => {
    for (const thing of left) await work(thing);
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}

/** The stored name by the sent name, for names that the service changes. */
const KEPT_AS: Readonly<Record<string, string>> = {
  'back\\slash.txt': 'slash.txt',
  '../dir/path.txt': 'path.txt',
  'two\r\nlines.txt': 'twolines.txt',
};

const OCTETS = 'application/octet-stream';

/** The expected type of the file (the last part with a file name): as declared, otherwise by its extension. */
function typeOf({ body }: CapturedUpload, name: string): string {
  const heads = body.toString('latin1').match(/(?:[\w-]+:[^\r]*\r\n)+(?=\r\n)/g) ?? [];
  const head = heads.findLast((text) => /filename|octet-stream/i.test(text)) ?? '';
  const declared = /^content-type: *(.*?)\r$/im.exec(head)?.[1] ?? OCTETS;
  return declared === OCTETS && name.endsWith('.txt') ? 'text/plain' : declared;
}

async function expectStored(upload: CapturedUpload, answer: RawAnswer | undefined): Promise<void> {
  const { name: capture, expected, content } = upload;
  if ('error' in expected) return expectError(answer, 'invalid_request');
  const file = JSON.parse(answer?.text ?? '');
  const sent = expected.filename ?? '';
  const name = KEPT_AS[sent] ?? sent;
  const type = typeOf(upload, name);
  const unnamed = type === 'text/plain' ? 'file.txt' : 'file.bin';
  expect({ capture, status: answer?.status, ...file }).toMatchObject({
    capture,
    status: 201,
    name: name || unnamed,
    mime_type: type,
    size_bytes: content.length,
  });
  const link = await fetch(file.url);
  expect({ capture, content: Buffer.from(await link.arrayBuffer()) }).toEqual({ capture, content });
}

describe('contract: multipart', () => {
  test('the captured uploads of every client are stored as their user intended', async () => {
    const account = await service.newAccount();
    // By default this sends every sixth capture, and the first of each client. test/shared/upload-form gives all captures to the parser.
    const clients = new Set<string>();
    const tried = capturedUploads().filter(({ client }, index) => {
      const isFirst = !clients.has(client);
      clients.add(client);
      return IS_THOROUGH || isFirst || index % 6 === 0;
    });
    await forEach(tried, async (upload) => expectStored(upload, await send(account, upload, 'inline')));
  });

  test('a captured upload of each client is also stored without a Content-Length', async () => {
    const account = await service.newAccount();
    const byClient = Map.groupBy(capturedUploads(), ({ client }) => client);
    const one = [...byClient.values()].flatMap(
      (uploads) => uploads.find((it) => it.case === 'utf8') ?? uploads[0] ?? [],
    );
    expect(one.length).toBeGreaterThan(10);
    await forEach(one, async (upload) => expectStored(upload, await send(account, upload, 'streaming')));
  });

  const WHOLE = Buffer.from(
    [
      '--B',
      'Content-Disposition: form-data; name="t"',
      '',
      'x',
      '--B',
      'Content-Disposition: form-data; name="file"; filename="a"',
      '',
      'content',
      '--B--',
    ].join('\r\n'),
  );
  const contentType = 'multipart/form-data; boundary=B';

  test('a body without a Content-Length that is cut anywhere is 400 and stores nothing', async () => {
    const account = await service.newAccount();
    // By default the body is cut at every tenth byte, and at each of the last four. (multipart.test.ts cuts bodies with a length.)
    const lengths = [...WHOLE.keys()].filter((at) => IS_THOROUGH || at % 10 === 0 || at > WHOLE.length - 5);
    await forEach(lengths, async (length) => {
      expectError(
        await send(account, { contentType, body: WHOLE.subarray(0, length) }, 'streaming'),
        'invalid_request',
      );
    });
    await expectNoTrace(service, account);
    expect((await send(account, { contentType, body: WHOLE }, 'streaming'))?.status).toBe(201);
    expectNoCrash();
  });
});

/** Expects that no log line says that the streaming server has crashed. */
function expectNoCrash(): void {
  expect(service.logs.filter((line) => line.startsWith('UploadStream') && /ended|did not start/.test(line))).toEqual(
    [],
  );
}
