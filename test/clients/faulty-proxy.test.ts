import { afterAll, describe, expect, type TestContext, test } from 'vitest';
import { FileHosting, FileHostingError } from '../../clients/typescript/src/index.ts';
import { FORM_FILE_MAX_BYTES } from '../../clients/typescript/src/upload.ts';
import { borrowTestService, type TestAccount } from '../support/service.ts';
import { IS_THOROUGH } from '../support/thorough.ts';
import { type Fault, type FaultyProxy, type Step, startFaultyProxy } from './faulty-proxy.ts';

const MIB = 1024 * 1024;
const SMALL = new Uint8Array(1_000).fill(1);
const LARGE = new Uint8Array(FORM_FILE_MAX_BYTES + 1).fill(2);

const service = await borrowTestService();
afterAll(() => service.close());

interface Setting {
  readonly proxy: FaultyProxy;
  readonly account: TestAccount;
  readonly client: FileHosting;
}

/** A new account, whose client reaches the service through a faulty proxy. */
async function setUp({ onTestFinished }: TestContext, stallSeconds = 60): Promise<Setting> {
  const [proxy, account] = await Promise.all([startFaultyProxy(service.urls.root_url), service.newAccount()]);
  onTestFinished(proxy.close);
  return { proxy, account, client: new FileHosting({ url: proxy.url, key: account.key, stallSeconds }) };
}

/** The number of files and the bytes that an account uses, reserved ones included. */
async function usageOf({ bySession }: TestAccount): Promise<{ files: number; bytes: number }> {
  await service.invoker.idle();
  const { body } = await bySession.request<{ file_count: number; storage_used_bytes: number }>('GET', '/auth/me');
  return { files: body.file_count, bytes: body.storage_used_bytes };
}

async function* inPieces(content: Uint8Array, size = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}

const errorOf = (promise: Promise<unknown>): Promise<FileHostingError> =>
  promise.then(
    () => expect.fail('the call should fail'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(FileHostingError);
      return error as FileHostingError;
    },
  );

const FAULTS: readonly (readonly [string, Fault])[] = [
  ['loses the request before it has an effect', 'lost before'],
  ['loses the answer', 'lost after'],
  ['cuts the connection in the middle of the answer', 'cut'],
  ['passes on half of the answer as if it were whole', 'half'],
  ['answers 503 without Retry-After', { status: 503 }],
  ['answers 502 with a page of HTML', { status: 502, body: '<html>Bad gateway</html>' }],
  ['reads nothing of the request', 'stall'],
  ['never answers the request', 'stall after'],
];

/** By default, the requests of a direct upload are tried only with these faults, in which the request takes effect without an answer. */
const SHORT = FAULTS.filter(([, fault]) => fault === 'lost after' || fault === 'stall after');
const STEPS = IS_THOROUGH ? (['ticket', 'put', 'complete'] as const) : (['complete'] as const);
const BIG_MIB = IS_THOROUGH ? 60 : 12;

// Most tests wait until the client retries or gives up. So they run at the same time, each with a proxy and an account of its own.

describe('an upload through a faulty proxy makes one file', () => {
  describe.concurrent.for(['form', 'ticket', 'put', 'complete'] as const)(
    'when, at the %s request, the proxy',
    (step) => {
      const tried = IS_THOROUGH || step === 'form' ? FAULTS : SHORT;
      test.for(tried)('%s', async ([, fault], context) => {
        const { proxy, account, client } = await setUp(context, String(fault).startsWith('stall') ? 10 : 60);
        proxy.addFaults(step, fault);
        const content = step === 'form' ? SMALL : LARGE;
        const file = await client.upload(content, { name: 'a.bin' });
        // The storage answers a PUT without a body, so nothing of the answer can be cut.
        const isWhole = step === 'put' && (fault === 'cut' || fault === 'half');
        expect(proxy.requests.filter((request) => request.step === step)).toHaveLength(isWhole ? 1 : 2);
        expect(await usageOf(account)).toEqual({ files: 1, bytes: content.length });
        expect(file).toMatchObject(await client.get(file.id));
        const stored = await (await fetch(file.url)).arrayBuffer();
        expect(Buffer.from(stored).equals(content)).toBe(true);
      });
    },
  );

  test.concurrent(`the client repeats a body of ${BIG_MIB} MiB whose connection was reset twice in the middle`, async (context) => {
    const { proxy, account, client } = await setUp(context);
    proxy.addFaults('put', { resetAt: (BIG_MIB / 2) * MIB }, { resetAt: (BIG_MIB - 1) * MIB });
    const file = await client.upload(new Blob([new Uint8Array(BIG_MIB * MIB)]), { name: 'big.bin' });
    expect(file.size_bytes).toBe(BIG_MIB * MIB);
    expect(await usageOf(account)).toEqual({ files: 1, bytes: BIG_MIB * MIB });
  });

  test.concurrent(`the client survives a lost answer, a cut answer and a 500 at each of: ${STEPS.join(', ')}`, async (context) => {
    const { proxy, account, client } = await setUp(context);
    for (const step of STEPS) proxy.addFaults(step, 'lost after', 'cut', { status: 500 });
    await client.upload(LARGE, { name: 'a.bin' });
    expect(await usageOf(account)).toEqual({ files: 1, bytes: LARGE.length });
  });

  test.concurrent('the client asks for a new ticket when the URL of the first has expired', async (context) => {
    const { proxy, account, client } = await setUp(context);
    proxy.addFaults('put', {
      status: 403,
      body: '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>',
    });
    await client.upload(LARGE, { name: 'a.bin' });
    expect(proxy.requests.map(({ step }) => step)).toEqual(['ticket', 'put', 'ticket', 'put', 'complete']);
    expect(await usageOf(account)).toEqual({ files: 1, bytes: LARGE.length });
  });
});

describe.concurrent('the client waits', () => {
  const soon = () => new Date(Date.now() + 3_600_000 + 3_000).toUTCString();
  test.for([
    [
      'a 429 with Retry-After in seconds',
      { status: 429, headers: { 'Retry-After': '2' }, body: '{"error":"rate_limit_exceeded"}' },
    ],
    ['a 503 with Retry-After in seconds', { status: 503, headers: { 'Retry-After': '2' } }],
    [
      'a 503 with Retry-After as a date, by the clock of the server,',
      { status: 503, headers: { 'Retry-After': soon(), Date: new Date(Date.now() + 3_600_000).toUTCString() } },
    ],
  ] as const)('the client waits at least as long as %s says', async ([, fault], context) => {
    const { proxy, account, client } = await setUp(context);
    proxy.addFaults('form', fault);
    await client.upload(SMALL, { name: 'a' });
    const [first, second] = proxy.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(2_000);
    expect(await usageOf(account)).toEqual({ files: 1, bytes: SMALL.length });
  });

  test('the client waits before the next upload when the limit is used up, and says so', async (context) => {
    const { proxy, client } = await setUp(context);
    proxy.addFaults('form', {
      addHeaders: { RateLimit: '"uploads";r=0;t=2', 'RateLimit-Policy': '"uploads";q=60;w=60' },
    });
    await client.upload(SMALL, { name: 'a' });
    const waits: unknown[] = [];
    await client.upload(SMALL, { name: 'b', onWait: ({ code }) => waits.push(code) });
    const [first, second] = proxy.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(2_000);
    expect(waits[0]).toBe('rate_limit_exceeded');
  });

  test('the client does not wait for the bytes of the next day: it fails at once and says when to try again', async (context) => {
    const { proxy, client } = await setUp(context);
    proxy.addFaults('form', {
      status: 429,
      headers: { 'Retry-After': '40000' },
      body: '{"error":"rate_limit_exceeded"}',
    });
    const error = await errorOf(client.upload(SMALL, { name: 'a' }));
    expect(error).toMatchObject({ code: 'rate_limit_exceeded', status: 429, retryAfter: 40_000 });
    expect(error.advice).toContain('midnight');
    await client.upload(SMALL, { name: 'b' });
  });
});

describe.concurrent('a clear error ends an upload', () => {
  test('an upload that never succeeds fails after its retries, and leaves nothing', async (context) => {
    const { proxy, account, client } = await setUp(context);
    proxy.addFaults('put', 'lost before', 'lost before');
    const error = await errorOf(client.upload(LARGE, { name: 'a', retries: 1 }));
    expect(error).toMatchObject({ code: 'network_error', status: undefined });
    expect(error.advice).toContain('connection');
    expect(await usageOf(account)).toEqual({ files: 0, bytes: 0 });
  });

  test('the next call with the same idempotency key continues an upload that failed', async (context) => {
    const { proxy, account, client } = await setUp(context);
    proxy.addFaults('complete', 'lost after');
    const options = { name: 'a', retries: 0, idempotencyKey: 'mine' };
    expect((await errorOf(client.upload(LARGE, options))).code).toBe('network_error');
    await client.upload(LARGE, options);
    expect(await usageOf(account)).toEqual({ files: 1, bytes: LARGE.length });
  });

  test('when the connection of a stream is reset in the middle, the error says that nothing was stored', async (context) => {
    const { proxy, account, client } = await setUp(context);
    proxy.addFaults('form', { resetAt: 6 * MIB });
    const error = await errorOf(client.upload(inPieces(new Uint8Array(12 * MIB)), { name: 'a' }));
    expect(error.code).toBe('network_error');
    expect(error.advice).toContain('Nothing was stored');
    expect(await usageOf(account)).toEqual({ files: 0, bytes: 0 });
  });

  test('when the answer to a stream is lost, the error says that the file may have been stored', async (context) => {
    const { proxy, account, client } = await setUp(context);
    proxy.addFaults('form', 'lost after');
    const error = await errorOf(client.upload(inPieces(LARGE), { name: 'a' }));
    expect(error.code).toBe('network_error');
    expect(error.advice).toContain('may have been stored');
    expect(await usageOf(account)).toEqual({ files: 1, bytes: LARGE.length });
  });

  test('a stream that is answered by a redirect fails with a clear error', async (context) => {
    const { proxy, client } = await setUp(context);
    proxy.addFaults('form', { status: 302, headers: { Location: 'https://login.example' }, body: '' });
    const error = await errorOf(client.upload(inPieces(LARGE), { name: 'a', retries: 0 }));
    expect(error.code).toBe('invalid_response');
  });

  test.for([
    ['a page of a proxy', { status: 403, body: '<html>Blocked</html>' }, 'invalid_response'],
    ['a redirect', { status: 302, headers: { Location: 'https://login.example' }, body: '' }, 'invalid_response'],
  ] as const)('an upload that is answered by %s fails with a clear error', async ([, fault, code], context) => {
    const { proxy, client } = await setUp(context);
    proxy.addFaults('form', fault);
    const error = await errorOf(client.upload(SMALL, { name: 'a', retries: 0 }));
    expect(error).toMatchObject({ code, status: fault.status });
    expect(error.advice).toMatch(/url|address/);
  });

  test.for([
    ['a page of HTML', '<!doctype html><p>Welcome'],
    ['the JSON of another program', '{"hello":"world"}'],
    ['a text', 'OK'],
    ['a list whose length is a text', JSON.stringify({ items: [], total: '7\u001b[31m', limit: 50 })],
  ])('an upload fails without another attempt when its address answers 200 with %s', async ([, body], context) => {
    const { proxy, client } = await setUp(context);
    for (const step of ['form', 'ticket', 'other'] as const)
      proxy.addFaults(step, { status: 200, body }, { status: 200, body });
    const onWait = () => expect.fail('the client waits');
    for (const call of [
      () => client.upload(SMALL, { name: 'a', onWait }),
      () => client.upload(LARGE, { name: 'a', onWait }),
      () => client.list({ onWait }),
      () => client.get('an-id', { onWait }),
    ]) {
      const { code, message, isTemporary } = await errorOf(call());
      expect({ code, isTemporary }).toEqual({ code: 'invalid_response', isTemporary: false });
      expect(message).toBe('This address does not answer as the service (invalid_response, 200).');
    }
  });

  const ANSWERS = [
    [400, 'BadDigest', 'invalid_request'],
    [400, 'EntityTooLarge', 'file_too_large'],
    [403, 'SignatureDoesNotMatch', 'forbidden'],
    [404, 'NoSuchBucket', 'invalid_request'],
    [503, 'SlowDown', 'service_unavailable'],
    [400, 'RequestTimeout', 'service_unavailable'],
  ] as const;
  const tried = IS_THOROUGH ? ANSWERS : ANSWERS.filter(([, xml]) => xml === 'EntityTooLarge' || xml === 'SlowDown');
  test.for(tried)(
    'an upload fails when the storage answers its PUT with %i %s',
    async ([status, xml, code], context) => {
      const { proxy, account, client } = await setUp(context);
      const fault = { status, headers: { 'x-amz-request-id': 'S3ID' }, body: `<Error><Code>${xml}</Code></Error>` };
      proxy.addFaults('put', fault, fault);
      const error = await errorOf(client.upload(LARGE, { name: 'a', retries: 0 }));
      expect(error).toMatchObject({ code, status, requestId: 'S3ID' });
      expect(error.message).toContain(xml);
      expect(await usageOf(account)).toEqual({ files: 0, bytes: 0 });
    },
  );
});

describe.concurrent('an upload that is aborted leaves nothing', () => {
  const CASES: readonly (readonly [string, Uint8Array, Step, readonly Fault[], 'stream'?])[] = [
    ['while its form is sent', SMALL, 'form', ['stall']],
    ['after its form was sent', SMALL, 'form', ['stall after']],
    ['while it waits to repeat a form whose answer was lost', SMALL, 'form', ['lost after']],
    ['while its ticket is made', LARGE, 'ticket', ['stall after']],
    ['while its bytes are sent', LARGE, 'put', ['stall']],
    ['after its bytes were sent', LARGE, 'put', ['stall after']],
    ['while it is completed', LARGE, 'complete', ['stall after']],
    ['while it is sent as a stream', LARGE, 'form', ['stall'], 'stream'],
  ];
  test.for(CASES.filter((_, index) => IS_THOROUGH || index % 2 === 0))(
    '%s',
    async ([, content, step, faults, isStream], context) => {
      const { proxy, account, client } = await setUp(context);
      proxy.addFaults(step, ...faults);
      const controller = new AbortController();
      const source = isStream ? inPieces(content) : content;
      const ended = errorOf(
        client.upload(source, { name: 'a', signal: controller.signal, onWait: () => controller.abort() }),
      );
      // A lost answer makes the client wait, and `onWait` aborts.
      if (!faults.includes('lost after')) {
        await (faults.includes('stall') ? proxy.arrival(step) : proxy.answer(step));
        controller.abort('enough');
      }
      expect((await ended).code).toBe('aborted');
      expect(await usageOf(account)).toEqual({ files: 0, bytes: 0 });
    },
  );

  test('aborting a stream that was sent deletes its file when the answer arrives', async (context) => {
    const { account } = await setUp(context);
    const controller = new AbortController();
    const client = new FileHosting({
      url: service.urls.root_url,
      key: account.key,
      fetch: async (...request) => {
        const response = await fetch(...request);
        controller.abort();
        return response;
      },
    });
    const error = await errorOf(client.upload(inPieces(LARGE), { name: 'a', signal: controller.signal }));
    expect(error.code).toBe('aborted');
    expect(await usageOf(account)).toEqual({ files: 0, bytes: 0 });
  });

  test('an aborted upload sends no more of its content', async (context) => {
    const { client } = await setUp(context);
    const controller = new AbortController();
    const sent: number[] = [];
    const onProgress = ({ sentBytes }: { sentBytes: number }) => {
      sent.push(sentBytes);
      if (sentBytes > MIB) controller.abort();
    };
    const content = new Blob([new Uint8Array(60 * MIB)]);
    const error = await errorOf(client.upload(content, { signal: controller.signal, onProgress }));
    expect([error.code, sent.filter((bytes) => bytes > MIB)]).toEqual(['aborted', [expect.any(Number)]]);
  });

  test('an upload that is aborted before it begins sends nothing', async (context) => {
    const { proxy, client } = await setUp(context);
    const error = await errorOf(client.upload(SMALL, { signal: AbortSignal.abort() }));
    expect([error.code, proxy.requests]).toEqual(['aborted', []]);
  });
});

describe.concurrent('other calls through a faulty proxy', () => {
  test('a deletion whose answer is lost counts as done, and a deletion of an unknown id is not_found', async (context) => {
    const { proxy, account, client } = await setUp(context);
    const { id } = await client.upload(SMALL, { name: 'a' });
    proxy.addFaults('delete', 'lost after');
    await client.delete(id);
    expect(await usageOf(account)).toEqual({ files: 0, bytes: 0 });
    expect(await errorOf(client.delete(id))).toMatchObject({ code: 'not_found', status: 404 });
  });

  test('a list is repeated until its answer is whole', async (context) => {
    const { proxy, client } = await setUp(context);
    proxy.addFaults('other', 'cut', 'half', { status: 503 });
    expect(await client.list()).toMatchObject({ items: [], total: 0 });
  });

  test('a key whose answer is lost is not made twice', async (context) => {
    const { proxy, account } = await setUp(context);
    const { cookie } = account;
    const withCookie: typeof fetch = (url, init) =>
      fetch(url, { ...init, headers: { ...(init?.headers as object), cookie, origin: service.urls.root_url } });
    const client = new FileHosting({ url: proxy.url, fetch: withCookie });
    proxy.addFaults('other', 'lost after');
    expect((await errorOf(client.keys.create('second'))).code).toBe('network_error');
    const names = (await client.keys.list()).map(({ name }) => name);
    expect(names.sort()).toEqual(['second', 'test']);
  });
});
