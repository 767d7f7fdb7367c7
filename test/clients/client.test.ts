import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import * as client from '../../clients/typescript/src/index.ts';
import { FileHosting, type FileRecord, type Progress, type UploadSource } from '../../clients/typescript/src/index.ts';
import { FORM_FILE_MAX_BYTES } from '../../clients/typescript/src/upload.ts';
import { borrowTestService, startTestService, type TestAccount } from '../support/service.ts';

const MIB = 1024 * 1024;

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

describe('upload', () => {
  const LARGE = FORM_FILE_MAX_BYTES + 1;
  const SOURCES: readonly (readonly [string, (content: Buffer<ArrayBuffer>, path: string) => UploadSource])[] = [
    ['a path', (_, path) => path],
    ['a file: URL', (_, path) => pathToFileURL(path)],
    ['a File', (content) => new File([content], 'f.bin')],
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
    const reports: Progress[] = [];
    const { size_bytes } = await hosting.upload(source(), { onProgress: (progress) => reports.push(progress) });
    const sent = reports.map(({ sentBytes }) => sentBytes);
    expect(sent).toEqual([...new Set(sent)].toSorted((a, b) => a - b));
    expect(sent.length).toBeGreaterThan(4);
    expect(sent.at(-1)).toBe(size_bytes);
    expect(new Set(reports.map(({ attempt }) => attempt))).toEqual(new Set([1]));
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
    let isChanged = false;
    const onProgress = ({ sentBytes }: Progress) => {
      if (isChanged || sentBytes < MIB) return;
      isChanged = true;
      void writeFile(path, 'other');
    };
    await expect(hosting.upload(path, { onProgress })).rejects.toMatchObject({ code: 'unreadable' });
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
