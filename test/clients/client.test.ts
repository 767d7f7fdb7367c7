import { createReadStream, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test, vi } from 'vitest';
import * as client from '../../clients/typescript/src/index.ts';
import { FileHosting, type FileRecord, type Progress, type UploadSource } from '../../clients/typescript/src/index.ts';
import { FORM_FILE_MAX_BYTES } from '../../clients/typescript/src/upload.ts';
import { borrowTestService, startTestService, type TestAccount } from '../support/service.ts';

const MIB = 1024 * 1024;
const LARGE_TICKET = 300_000;

const service = await borrowTestService();
const account = await service.newAccount();
const hosting = new FileHosting({ url: service.urls.root_url, key: account.key });
const folder = await mkdtemp(join(tmpdir(), 'file-hosting-client-'));
afterAll(async () => {
  await rm(folder, { recursive: true });
  await service.close();
});

const contentOf = async ({ url }: FileRecord) => Buffer.from(await (await fetch(url)).arrayBuffer());
const patterned = (bytes: number) => Buffer.alloc(bytes, 'The quick brown fox. ');

/** A client with the session of an account instead of its key. */
function withSession(by: TestAccount, at = service): FileHosting {
  const { root_url } = at.urls;
  const withCookie: typeof fetch = (url, init) =>
    fetch(url, { ...init, headers: { ...(init?.headers as object), cookie: by.cookie, origin: root_url } });
  return new FileHosting({ url: root_url, fetch: withCookie });
}

async function* inPieces(content: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}

/** As Bun's Blob of a file: it reads its bytes from elsewhere, and as a part of another Blob it has none. */
const blobOfFile = (content: Buffer<ArrayBuffer>): Blob =>
  Object.defineProperties(new Blob(), {
    size: { value: content.length },
    arrayBuffer: { value: async () => new Uint8Array(content).buffer },
    stream: { value: () => new Blob([content]).stream() },
    slice: { value: (from: number, to: number) => blobOfFile(content.subarray(from, to)) },
  });

describe('upload', () => {
  const LARGE = FORM_FILE_MAX_BYTES + 1;
  const SOURCES: readonly (readonly [string, (content: Buffer<ArrayBuffer>, path: string) => UploadSource])[] = [
    ['a path', (_, path) => path],
    ['a file: URL', (_, path) => pathToFileURL(path)],
    ['a File', (content) => new File([content], 'f.bin')],
    ['a Blob that reads its bytes from elsewhere', (content) => blobOfFile(content)],
    ['a Uint8Array', (content) => content],
    ['an ArrayBuffer', (content) => new Uint8Array(content).buffer],
    ['a ReadableStream', (content) => new Blob([content]).stream()],
    ['a Node stream', (_, path) => createReadStream(path)],
    ['an async iterable', (content) => inPieces(content, 10_000)],
  ];
  test.for(SOURCES.flatMap(([what, sourceOf]) => [0, 1_000, LARGE].map((bytes) => [what, bytes, sourceOf] as const)))(
    'stores %s of %i bytes',
    async ([, bytes, sourceOf]) => {
      const content = patterned(bytes);
      const path = join(folder, 'f.bin');
      await writeFile(path, content);
      const file = await hosting.upload(sourceOf(content, path), { name: 'given.bin' });
      expect(file).toMatchObject({ name: 'given.bin', size_bytes: bytes });
      expect((await contentOf(file)).equals(content)).toBe(true);
    },
  );

  test.for([
    ['100% of it%20.txt'],
    ['"quotes" and \'more\' (a).txt'],
    ['smile 😀 é ü 日本.txt'],
    ['semi;colon=name.txt'],
    ['%22.txt'],
  ])('keeps the name %s in every lane', async ([name = '']) => {
    const large = patterned(LARGE);
    const files = [
      await hosting.upload(new Blob(['a']), { name }),
      await hosting.upload(inPieces(large, MIB), { name }),
      await hosting.upload(large, { name }),
    ];
    expect(files.map((file) => file.name)).toEqual([name, name, name]);
  });

  test('takes name and type from a path or File, and an unknown type from the extension', async () => {
    const path = join(folder, 'page.html');
    await writeFile(path, '<p>');
    expect(await hosting.upload(path)).toMatchObject({ name: 'page.html', mime_type: 'text/html' });
    const file = new File(['a'], 'a.bin', { type: 'image/png' });
    expect(await hosting.upload(file)).toMatchObject({ name: 'a.bin', mime_type: 'image/png' });
    expect(await hosting.upload(file, { name: 'b', type: 'text/css' })).toMatchObject({
      name: 'b',
      mime_type: 'text/css',
    });
    expect((await hosting.upload(new Blob(['a']))).name).toBe('file.bin');
  });

  test.for([
    ['in a form', () => patterned(300_000)],
    ['directly', () => patterned(LARGE)],
    ['as a stream', () => inPieces(patterned(LARGE), 65_536)],
  ] as const)('reports progress that grows to its end, %s', async ([, source]) => {
    let now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 100));
    const reports: Progress[] = [];
    const { size_bytes } = await hosting.upload(source(), { onProgress: (progress) => reports.push(progress) });
    vi.restoreAllMocks();
    const sent = reports.map(({ sentBytes }) => sentBytes);
    expect(sent).toEqual([...new Set(sent)].toSorted((a, b) => a - b));
    expect(sent.length).toBeGreaterThan(4);
    expect(sent.at(-1)).toBe(size_bytes);
    expect(new Set(reports.map(({ attempt }) => attempt))).toEqual(new Set([1]));
  });

  test('reports at most ten times a second between the beginning and the end', async () => {
    for (const source of [patterned(600_000), patterned(LARGE), inPieces(patterned(LARGE), 65_536)]) {
      let now = performance.now();
      vi.spyOn(performance, 'now').mockImplementation(() => (now += 10));
      const sent: number[] = [];
      const times: number[] = [];
      const { size_bytes } = await hosting.upload(source, {
        onProgress({ sentBytes }) {
          sent.push(sentBytes);
          times.push(now);
        },
      });
      vi.restoreAllMocks();
      expect([sent.at(0), sent.at(-1)]).toEqual([0, size_bytes]);
      const gaps = times.slice(1, -1).map((time, index) => time - (times[index] ?? 0));
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(100);
      if (size_bytes === LARGE) expect(gaps.length).toBeGreaterThan(2);
    }
  });

  test.for([
    ['in a form', () => new Blob(['x'])],
    ['directly', () => patterned(LARGE)],
    ['as a stream', () => inPieces(patterned(LARGE), 65_536)],
  ] as const)('aborted in its first onProgress, %s, sends nothing', async ([, source]) => {
    const fresh = await service.newAccount();
    const stop = new AbortController();
    const sent: number[] = [];
    const onProgress = ({ sentBytes }: Progress) => {
      sent.push(sentBytes);
      stop.abort();
    };
    const by = new FileHosting({ url: service.urls.root_url, key: fresh.key });
    await expect(by.upload(source(), { signal: stop.signal, onProgress })).rejects.toMatchObject({ code: 'aborted' });
    expect(sent).toEqual([0]);
    expect(await by.usage()).toMatchObject({ file_count: 0, storage_used_bytes: 0 });
  });

  test.for([
    ['in a form', () => new Blob(['x'])],
    ['directly', () => patterned(LARGE)],
    ['as a stream', () => inPieces(patterned(LARGE), 65_536)],
  ] as const)(
    'with a used key, %s, says that it is a replay, and whether the file was deleted',
    async ([, source], { task }) => {
      const options = { name: 'a', idempotencyKey: task.id };
      const { id, ...first } = await hosting.upload(source(), options);
      expect(first).toMatchObject({ isReplay: false, isDeleted: false });
      expect(await hosting.upload(source(), options)).toMatchObject({ id, isReplay: true, isDeleted: false });
      await hosting.delete(id);
      expect(await hosting.upload(source(), options)).toMatchObject({ id, isReplay: true, isDeleted: true });
    },
  );

  test.for([
    ['', undefined, 'file.bin'],
    ['text/plain', undefined, 'file.txt'],
    ['', '', 'file.bin'],
  ] as const)('gives empty content of the type "%s" without a name (%s) the name %s', async ([type, name, stored]) => {
    expect(await hosting.upload(new Blob([], { type }), { name })).toMatchObject({ name: stored, size_bytes: 0 });
  });

  test.for([
    ['ends before its announced size', 6 * MIB, 6 * MIB + 1],
    ['goes on past its announced size', 6 * MIB, 6 * MIB - 1],
    ['is short and ends before its announced size', 10, 11],
  ] as const)('stores nothing of a stream that %s', async ([, bytes, size]) => {
    const fresh = await service.newAccount();
    const by = new FileHosting({ url: service.urls.root_url, key: fresh.key });
    await expect(by.upload(inPieces(patterned(bytes), 65_536), { size })).rejects.toMatchObject({ code: 'unreadable' });
    expect((await by.list()).total).toBe(0);
  });

  test('fails with the error of its stream, and stores nothing', async () => {
    const failing = async function* () {
      yield patterned(5 * MIB);
      throw new Error('the disk is gone');
    };
    const fresh = await service.newAccount();
    const by = new FileHosting({ url: service.urls.root_url, key: fresh.key });
    const error = await by.upload(failing()).catch((thrown: client.FileHostingError) => thrown);
    expect(error).toMatchObject({ code: 'unreadable', cause: { message: 'the disk is gone' } });
    expect((await by.list()).total).toBe(0);
  });

  test.for([200_000, LARGE])(
    'of %i bytes ends with the error that onProgress throws, and stores nothing',
    async (size) => {
      const fresh = await service.newAccount();
      const by = new FileHosting({ url: service.urls.root_url, key: fresh.key });
      const onProgress = ({ sentBytes }: Progress) => {
        if (sentBytes > 0) throw new RangeError('the bar is too short');
      };
      await expect(by.upload(patterned(size), { onProgress })).rejects.toThrow('the bar is too short');
      expect((await by.list()).total).toBe(0);
    },
  );

  test('refuses a file that changed while it was sent', async () => {
    const path = join(folder, 'changing.bin');
    await writeFile(path, patterned(20 * MIB));
    let now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 100));
    const onProgress = ({ sentBytes }: Progress) => {
      if (sentBytes >= MIB) writeFileSync(path, 'other');
    };
    await expect(hosting.upload(path, { onProgress })).rejects.toMatchObject({ code: 'unreadable' });
    vi.restoreAllMocks();
  });

  test('fails before it sends a large file when the account is full', async () => {
    const small = await startTestService({ STORAGE_LIMIT_BYTES: '1000' });
    try {
      const { key } = await small.newAccount();
      const by = new FileHosting({ url: small.urls.root_url, key });
      const reports: Progress[] = [];
      const options = { onProgress: (progress: Progress) => reports.push(progress) };
      const error = await by.upload(patterned(50 * MIB), options).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'storage_limit_exceeded', status: 403 });
      expect((error as client.FileHostingError).advice).toContain('Delete files');
      expect(reports).toEqual([]);
      const streamed = await by.upload(inPieces(patterned(50 * MIB), 65_536)).catch((thrown: unknown) => thrown);
      expect(streamed).toMatchObject({ code: 'storage_limit_exceeded', status: 403 });
    } finally {
      await small.close();
    }
  });
});

describe('a ticket', () => {
  const content = patterned(LARGE_TICKET);
  const create = () => hosting.createTicket({ name: 'a.bin', type: 'image/png', size: content.length });

  test('takes content without a key, once, and becomes a file', async () => {
    const ticket = await create();
    await expect(hosting.complete(ticket.id)).rejects.toMatchObject({ code: 'upload_incomplete', status: 409 });
    const sent: Progress[] = [];
    await client.uploadTo(ticket, new Blob([content]), { onProgress: (progress) => sent.push(progress) });
    expect(sent.at(-1)).toEqual({ sentBytes: content.length, totalBytes: content.length, attempt: 1 });
    await expect(client.uploadTo(ticket, content)).rejects.toMatchObject({ code: 'invalid_request', status: 412 });
    const file = await hosting.complete(ticket.id);
    expect(file).toMatchObject({ name: 'a.bin', mime_type: 'image/png', size_bytes: content.length });
    expect((await contentOf(file)).equals(content)).toBe(true);
  });

  test('counts as used when the answer to an attempt was lost', async () => {
    const ticket = await create();
    let lost = 0;
    const losing: client.Fetch = async (url, options) => {
      const answer = await fetch(url, options);
      if (lost++ === 0) throw new TypeError('the connection was lost');
      return answer;
    };
    await client.uploadTo(ticket, content, { fetch: losing });
    expect(lost).toBe(2);
    expect(await hosting.complete(ticket.id)).toMatchObject({ size_bytes: content.length });
  });

  test.for([
    ['other content', { size: 1 }, /another size/, 'Create a ticket for this content.'],
    ['an expired ticket', { isLate: true }, /expired/, 'Create another ticket.'],
    [
      'a cancelled ticket',
      { isCancelled: true },
      /used or cancelled/,
      'Complete the upload, or create another ticket.',
    ],
  ] as const)('refuses %s, and says what to do', async ([, how, message, advice]) => {
    const ticket = await create();
    if ('isCancelled' in how) await hosting.cancel(ticket.id);
    const expired: client.Fetch = async () =>
      new Response('<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>', { status: 403 });
    const options = 'isLate' in how ? { fetch: expired } : {};
    const sent = client.uploadTo(ticket, 'size' in how ? new Blob(['x']) : content, options);
    await expect(sent).rejects.toMatchObject({ message: expect.stringMatching(message), advice });
    await hosting.cancel(ticket.id);
  });

  test('with a used key is the same ticket, and then the file', async ({ task }) => {
    const options = { name: 'a', size: 3, idempotencyKey: task.id };
    const [first, again] = [await hosting.createTicket(options), await hosting.createTicket(options)];
    expect(again.id).toBe(first.id);
    if (!('upload' in again)) return expect.fail('it is no file yet');
    await client.uploadTo(again, new Blob(['abc']));
    await hosting.complete(first.id);
    expect(await hosting.createTicket(options)).toMatchObject({ id: first.id, isReplay: true, isDeleted: false });
  });
});

describe('download', () => {
  const content = patterned(200_000);
  /** Cuts each of the first answers of a link behind so many bytes, and changes or records the requests. */
  function cutting(
    cuts: number[],
    change: (url: string, options: RequestInit, at: number) => Promise<Response> = fetch,
  ) {
    const ranges: (string | null)[] = [];
    const using: client.Fetch = async (url, options) => {
      const headers = new Headers(options.headers);
      ranges.push([headers.get('range'), headers.get('if-range') && 'if-range'].filter(Boolean).join(' '));
      const answer = await change(url, options, ranges.length);
      const cut = cuts[ranges.length - 1];
      if (cut === undefined) return answer;
      const bytes = new Uint8Array(await answer.arrayBuffer());
      let isOver = false;
      const body = new ReadableStream({
        pull(controller) {
          if (isOver) return controller.error(new TypeError('cut'));
          isOver = true;
          controller.enqueue(bytes.subarray(0, cut));
        },
      });
      return new Response(body, answer);
    };
    return { ranges, by: new FileHosting({ url: service.urls.root_url, key: account.key, fetch: using }) };
  }
  const bytesOf = async (stream: ReadableStream<Uint8Array>) => Buffer.from(await new Response(stream).arrayBuffer());

  test('gives the bytes of a file, also of an empty one, and goes on after lost connections', async () => {
    const [empty, file] = [await hosting.upload(new Blob([])), await hosting.upload(content)];
    expect((await bytesOf(hosting.download(empty))).length).toBe(0);
    const { by, ranges } = cutting([100_000, 50_000]);
    expect((await bytesOf(by.download(file))).equals(content)).toBe(true);
    expect(ranges).toEqual(['bytes=0-', 'bytes=100000- if-range', 'bytes=150000- if-range']);
  });

  test('continues an earlier download', async () => {
    const file = await hosting.upload(content);
    let start: client.DownloadPoint | undefined;
    await hosting
      .download(file, { onStart: (point) => (start = point) })
      .getReader()
      .read();
    const after = { bytes: 150_000, etag: start?.etag };
    expect((await bytesOf(hosting.download(file, { after }))).equals(content.subarray(150_000))).toBe(true);
    expect((await bytesOf(hosting.download(file, { after: { ...after, bytes: content.length } }))).length).toBe(0);
    const other = { ...after, etag: '"other"' };
    await expect(bytesOf(hosting.download(file, { after: other }))).rejects.toMatchObject({ code: 'unreadable' });
  });

  test.for([
    ['deleted', 'not_found', async () => Response.json({ error: 'not_found' }, { status: 404 })],
    ['replaced by a file of the same size', 'unreadable', fetch],
    ['replaced by a shorter file', 'unreadable', fetch],
  ] as const)('fails when its file is %s after a lost connection', async ([how, code, answer]) => {
    const file = await hosting.upload(content);
    const size = how.endsWith('shorter file') ? 120_000 : content.length;
    const other = await hosting.upload(patterned(size).fill('x'));
    // A server that ignores If-Range.
    const change = async (url: string, { headers, ...options }: RequestInit, at: number) => {
      const { 'If-Range': _, ...kept } = headers as Record<string, string>;
      return at === 1 ? fetch(url, { ...options, headers: kept }) : answer(other.url, { ...options, headers: kept });
    };
    const { by } = cutting([100_000], change as typeof fetch as never);
    await expect(bytesOf(by.download(file))).rejects.toMatchObject({ code, isTemporary: false });
  });

  /** A server of three bytes in three pieces. Each answer has `init`; `open` counts the bodies that are not over. */
  function serving(init: ResponseInit) {
    let open = 0;
    const using: client.Fetch = async () => {
      let at = 0;
      open++;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (at < 3) return controller.enqueue(Uint8Array.of(at++));
          open--;
          controller.close();
        },
        cancel: () => void open--,
      });
      return new Response(body, init);
    };
    const by = new FileHosting({ url: service.urls.root_url, key: account.key, fetch: using });
    const file = { url: 'https://example.com/a', size_bytes: 3 };
    return { file, by, open: () => open };
  }

  test.for<HeadersInit>([{}, { ETag: 'W/"weak"' }])(
    'reads a file in pieces from a server that does not identify its content: %o',
    async (headers) => {
      const { by, file } = serving({ headers });
      expect([...(await bytesOf(by.download(file)))]).toEqual([0, 1, 2]);
      await expect(bytesOf(by.download(file, { after: { bytes: 1, etag: undefined } }))).rejects.toMatchObject({
        code: 'network_error',
        isTemporary: false,
      });
    },
  );

  test.for<[string, ResponseInit, client.DownloadOptions]>([
    ['refuses the range', { status: 416 }, {}],
    ['has a file of another size', { headers: { 'Content-Length': '4' } }, {}],
    ['has another file', { headers: { ETag: '"b"' } }, { after: { bytes: 1, etag: '"a"' } }],
    ['answers, and the caller throws', {}, { onStart: () => expect.fail('thrown by the caller') }],
  ])('leaves no answer open when the server %s', async ([, init, options]) => {
    const { by, file, open } = serving(init);
    await expect(bytesOf(by.download(file, { ...options, retries: 0 }))).rejects.toThrow();
    expect(open()).toBe(0);
  });

  test('ends when it is aborted', async () => {
    const file = await hosting.upload(content);
    const stop = new AbortController();
    const reader = hosting.download(file, { signal: stop.signal }).getReader();
    await reader.read();
    stop.abort();
    await expect(reader.read()).rejects.toMatchObject({ code: 'aborted' });
  });
});

describe('list', () => {
  async function filled(count: number): Promise<{ by: FileHosting; names: string[] }> {
    const fresh = await service.newAccount();
    const by = new FileHosting({ url: service.urls.root_url, key: fresh.key });
    const names = Array.from({ length: count }, (_, at) => `${at}.txt`);
    for (const name of names) await by.upload(new Blob(['x']), { name });
    return { by, names: names.reverse() };
  }
  async function read(files: AsyncIterable<FileRecord>, each: (at: number, file: FileRecord) => Promise<unknown>) {
    const names: string[] = [];
    for await (const file of files) {
      await each(names.length, file);
      names.push(file.name);
    }
    return names;
  }

  test('reads a page, with search', async () => {
    const { by } = await filled(12);
    expect(await by.list({ page: 2, limit: 5 })).toMatchObject({ page: 2, limit: 5, total: 12 });
    expect((await by.list({ search: '1.' })).items.map(({ name }) => name)).toEqual(['11.txt', '1.txt']);
  });

  test('reads each file once while files are added and deleted on the pages before and after the current one', async () => {
    const { by, names } = await filled(11);
    const add = () => by.upload(new Blob(['x']), { name: 'new.txt' });
    expect(await read(by.listAll({ limit: 2 }), async (at) => at < 6 && add())).toEqual(names);
    for await (const file of by.listAll({ search: 'new' })) await by.delete(file.id);
    expect((await by.list()).total).toBe(11);

    const all = (await by.list()).items;
    const deleteAt = (at: number) => by.delete(all[at]?.id ?? '');
    const left = await read(by.listAll({ limit: 3 }), async (at) => {
      if (at === 5) await Promise.all([0, 1, 2, 3, 9].map(deleteAt));
    });
    expect(left).toEqual(names.filter((_, at) => at !== 9));
    expect(await read(by.listAll({ limit: 2 }), async (_, file) => by.delete(file.id))).toEqual(
      names.filter((_, at) => ![0, 1, 2, 3, 9].includes(at)),
    );
    expect((await by.list()).total).toBe(0);
  });
});

describe('a session', () => {
  test('lets a client read the profile, make and revoke keys, and log out', async () => {
    const fresh = await service.newAccount();
    const by = withSession(fresh);
    expect(await by.me()).toMatchObject({ email: fresh.email, file_count: 0 });
    const { key, id } = await by.keys.create('mine');
    expect(await new FileHosting({ url: service.urls.base_url, key: ` ${key}\n` }).list()).toMatchObject({ total: 0 });
    await by.keys.revoke(id);
    expect((await by.keys.list()).map(({ name }) => name)).toEqual(['test']);
    await by.logout();
    await expect(by.me()).rejects.toMatchObject({ code: 'unauthorized', status: 401 });
  });

  test('is needed for what a key may not do, and the error says so', async () => {
    const { key } = await service.newAccount();
    const by = new FileHosting({ url: service.urls.root_url, key });
    for (const call of [() => by.me(), () => by.keys.list(), () => by.sessions.list(), () => by.endSessions()]) {
      const error = await call().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        code: 'unauthorized',
        message: 'This needs a session, which an API key is not (unauthorized, 401).',
        advice: expect.not.stringContaining('Create'),
      });
    }
  });

  test('lists the sessions of the account, and ends another one or itself', async () => {
    const email = 'three-browsers@example.com';
    const own = withSession(await service.newAccount(email));
    const others = [withSession(await service.newAccount(email)), withSession(await service.newAccount(email))];
    const sessions = await own.sessions.list();
    expect(sessions.map(({ current }) => current).sort()).toEqual([false, false, true]);
    for (const { id } of sessions.toSorted((one, other) => Number(one.current) - Number(other.current)))
      await own.sessions.end(id);
    for (const session of [own, ...others]) await expect(session.me()).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('can be ended together with all others of the account', async () => {
    const email = 'two-browsers@example.com';
    const sessions = [withSession(await service.newAccount(email)), withSession(await service.newAccount(email))];
    await sessions[0]?.endSessions();
    for (const session of sessions) await expect(session.me()).rejects.toMatchObject({ code: 'unauthorized' });
  });
});

describe('errors', () => {
  test('have code, status, request id and advice', async () => {
    const by = new FileHosting({ url: service.urls.root_url, key: 'svc_test_wrong' });
    const error = await by.list().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(client.FileHostingError);
    expect(error).toMatchObject({ code: 'unauthorized', status: 401, name: 'FileHostingError', isTemporary: false });
    expect((error as client.FileHostingError).requestId).toMatch(/.{8}/);
    expect((error as client.FileHostingError).advice).toContain('API key');
  });

  test.for([
    ['no address', () => new FileHosting({ key: 'k' })],
    ['an address without a scheme', () => new FileHosting({ url: 'files.example.com' })],
    ['a key with a space inside', () => new FileHosting({ url: 'http://localhost', key: 'a b' })],
    ['an idempotency key that is not ASCII', () => hosting.upload(new Blob(), { idempotencyKey: 'é' })],
    ['a type with a line break', () => hosting.upload(new Blob(), { type: 'text/plain\r\nX: y' })],
    ['a number as content', () => hosting.upload(7 as unknown as Blob)],
    ['an empty id', () => hosting.get('')],
  ] as const)('have the code invalid_argument for a call with %s', async ([, call]) => {
    await expect((async () => call())()).rejects.toMatchObject({ code: 'invalid_argument', status: undefined });
  });

  test.for([
    [418, '{"error":"teapot_empty"}', 'teapot_empty', false],
    [400, '{"error":"constructor"}', 'constructor', false],
    [503, '{"error":"moon_phase"}', 'moon_phase', true],
    [400, '{"error":"Bad Request"}', 'invalid_response', false],
    [400, '{"error":{"code":1}}', 'invalid_response', false],
  ] as const)('of status %i with the body %s have the code %s', async ([status, body, code, isTemporary]) => {
    const by = new FileHosting({
      url: 'http://localhost',
      fetch: async () => new Response(body, { status }),
      retries: 0,
    });
    await expect(by.list()).rejects.toMatchObject({ code, status, isTemporary, advice: expect.stringMatching(/\w/) });
  });

  test('say in their message why the service refuses', async () => {
    await expect(hosting.list({ page: 0 })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(
        /: the parameter page is not a whole number from 1 to .*\(invalid_request, 400\)\.$/,
      ),
    });
  });

  test('name the path of a file that cannot be read', async () => {
    const error = await hosting.upload('/no/such/file').catch((thrown: client.FileHostingError) => thrown);
    expect(error).toMatchObject({ code: 'unreadable', message: expect.stringContaining('/no/such/file') });
  });
});

test('downloadUrl gives a link that saves the file under its name', async () => {
  const file = await hosting.upload(new Blob(['x']), { name: 'photo.jpg' });
  const [shown, saved] = [await fetch(file.url), await fetch(client.downloadUrl(file))];
  expect(shown.headers.get('Content-Disposition')).toMatch(/^inline/);
  expect(saved.headers.get('Content-Disposition')).toMatch(/^attachment; filename="photo\.jpg"/);
});
