import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type * as Client from '../../clients/typescript/src/index.ts';
import { FileHosting } from '../../clients/typescript/src/index.ts';
import {
  HAS_BROWSER,
  openAs,
  sharedBrowser,
  slowUploads,
  type Visit,
  type VisitOptions,
  visit,
} from '../support/browser.ts';
import { borrowTestService, type TestAccount, type TestService } from '../support/service.ts';

const MIB = 1024 * 1024;

let service: TestService;
let browser: Browser;
let script: string;

describe.runIf(HAS_BROWSER)('the client in a browser', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([borrowTestService(), sharedBrowser()]);
    const bundle = await build({
      entryPoints: [join(import.meta.dirname, '../../clients/typescript/src/index.ts')],
      bundle: true,
      format: 'iife',
      globalName: 'client',
      platform: 'browser',
      write: false,
    });
    script = bundle.outputFiles[0]?.text ?? '';
  });
  afterAll(() => service.close());

  /** Opens a page of the service's own origin, with a session. The global variable `client` of the page is the client. */
  async function open(options: VisitOptions = {}): Promise<{ account: TestAccount; here: Visit; page: Page }> {
    const account = await service.newAccount();
    const here = await visit(browser, options);
    await openAs(here, service, account.cookie, '/dashboard/docs');
    await here.page.evaluate(`${script}; globalThis.client = client;`);
    return { account, here, page: here.page };
  }

  test.for([
    ['in a form', 300_000],
    ['directly', 6 * MIB],
  ] as const)('uploads a Blob %s with the session, and reports progress', async ([, size]) => {
    const { here, page, account } = await open();
    const { file, reports } = await page.evaluate(async (bytes) => {
      const { FileHosting } = (globalThis as unknown as { client: typeof Client }).client;
      const reports: Client.Progress[] = [];
      const options = { name: '100 % "x" 😀.bin', onProgress: (progress: Client.Progress) => reports.push(progress) };
      return { file: await new FileHosting().upload(new Blob([new Uint8Array(bytes)]), options), reports };
    }, size);
    expect(file).toMatchObject({ name: '100 % "x" 😀.bin', size_bytes: size });
    expect(reports.at(0)).toEqual({ sentBytes: 0, totalBytes: size, attempt: 1 });
    expect(reports.at(-1)).toEqual({ sentBytes: size, totalBytes: size, attempt: 1 });
    const { body } = await account.bySession.request('GET', '/auth/me');
    expect(body).toMatchObject({ file_count: 1, storage_used_bytes: size });
    await here.leave();
  });

  test('sends the content of a ticket without a key, also when the first answer is lost', async () => {
    const { here, page, account } = await open();
    const by = new FileHosting({ url: service.urls.root_url, key: account.key });
    const ticket = await by.createTicket({ name: 'a.bin', size: 300_000 });
    const answers: number[] = [];
    await page.route(ticket.upload.url, async (route) => {
      const answer = await route.fetch();
      answers.push(answer.status());
      if (answers.length === 1) return route.abort('connectionreset');
      await route.fulfill({ response: answer });
    });
    const sent = await page.evaluate(async (given) => {
      const { uploadTo } = (globalThis as unknown as { client: typeof Client }).client;
      const reports: Client.Progress[] = [];
      await uploadTo(given, new Blob([new Uint8Array(300_000).fill(7)]), { onProgress: (one) => reports.push(one) });
      return reports;
    }, ticket);
    // 412: the ticket has been used, by the request whose answer was lost.
    expect(answers).toEqual([200, 412]);
    expect(sent.at(-1)?.attempt).toBe(2);
    expect([sent.at(0)?.sentBytes, sent.at(-1)?.sentBytes]).toEqual([0, 300_000]);
    const file = await by.complete(ticket.id);
    expect(await (await fetch(file.url)).arrayBuffer()).toEqual(new Uint8Array(300_000).fill(7).buffer);
    await here.leave();
  });

  test('downloads a file of another origin, from its start and from a byte on', async () => {
    // The dashboard's own policy lets its pages read no links.
    const { here, page, account } = await open({ bypassCSP: true });
    const by = new FileHosting({ url: service.urls.root_url, key: account.key });
    const file = await by.upload(
      new Uint8Array(300_000).map((_, index) => index % 251),
      { name: 'a.bin' },
    );
    const read = await page.evaluate(async (record) => {
      const hosting = new (globalThis as unknown as { client: typeof Client }).client.FileHosting();
      let etag: string | undefined;
      const bytesOf = async (stream: ReadableStream<Uint8Array>) => [
        ...new Uint8Array(await new Response(stream as BodyInit).arrayBuffer()),
      ];
      const onStart = (start: Client.DownloadPoint) => {
        etag = start.etag;
      };
      const whole = await bytesOf(hosting.download(record, { onStart }));
      return [whole, await bytesOf(hosting.download(record, { after: { bytes: 299_000, etag } }))];
    }, file);
    const content = Array.from({ length: 300_000 }, (_, index) => index % 251);
    expect(read).toEqual([content, content.slice(299_000)]);
    await here.leave();
  });

  test('reads a stream whole and uploads it, and refuses a path', async () => {
    const { here, page } = await open();
    const [file, code] = await page.evaluate(async () => {
      const { FileHosting, FileHostingError } = (globalThis as unknown as { client: typeof Client }).client;
      const hosting = new FileHosting();
      const stream = new Blob([new Uint8Array(5 * 1024 * 1024)]).stream();
      const refused = await hosting.upload('photo.jpg').catch((error: Client.FileHostingError) => error);
      return [
        await hosting.upload(stream, { name: 's.bin' }),
        refused instanceof FileHostingError ? refused.code : undefined,
      ] as const;
    });
    expect([file.size_bytes, code]).toEqual([5 * MIB, 'invalid_argument']);
    await here.leave();
  });

  test('refuses a small file that was changed since it was chosen', async () => {
    const { here, page } = await open();
    const folder = await mkdtemp(join(tmpdir(), 'file-hosting-browser-'));
    const path = join(folder, 'draft.txt');
    await writeFile(path, 'x'.repeat(5_000));
    await page.evaluate(() => {
      const input = document.createElement('input');
      input.type = 'file';
      input.id = 'chosen';
      document.body.append(input);
    });
    await page.locator('#chosen').setInputFiles(path);
    await writeFile(path, 'changed');
    const code = await page.evaluate(async () => {
      const { FileHosting } = (globalThis as unknown as { client: typeof Client }).client;
      const [file] = document.querySelector<HTMLInputElement>('#chosen')?.files ?? [];
      const uploaded = new FileHosting().upload(file as File);
      return uploaded.then(
        () => 'stored',
        (error: Client.FileHostingError) => error.code,
      );
    });
    expect(code).toBe('unreadable');
    await rm(folder, { recursive: true });
    await here.leave();
  });

  test('uploads once although the first answer was lost, and leaves nothing of an upload that is aborted', async () => {
    const { here, page, account } = await open();
    let lost = 0;
    await page.route('**/api/v1/files', async (route) => {
      if (route.request().method() !== 'POST' || lost++ > 0) return route.fallback();
      expect((await route.fetch()).status()).toBe(201);
      await route.abort('connectionreset');
    });
    // The upload is slow, so that it is aborted before all its bytes have arrived. A complete object would stay until the ticket ends.
    await slowUploads(page, 4 * 1024 * 1024);
    const files = await page.evaluate(async () => {
      const { FileHosting } = (globalThis as unknown as { client: typeof Client }).client;
      const hosting = new FileHosting();
      await hosting.upload(new Blob(['once']), { name: 'once.txt' });
      const controller = new AbortController();
      const onProgress = ({ sentBytes }: Client.Progress) => sentBytes > 0 && controller.abort();
      const large = hosting.upload(new Blob([new Uint8Array(20 * 1024 * 1024)]), {
        signal: controller.signal,
        onProgress,
      });
      const code = await large.then(
        () => 'stored',
        (error: Client.FileHostingError) => error.code,
      );
      return { code, page: await hosting.list(), used: (await hosting.me()).storage_used_bytes };
    });
    expect(lost).toBeGreaterThan(1);
    expect(files).toMatchObject({ code: 'aborted', page: { total: 1, items: [{ name: 'once.txt' }] }, used: 4 });
    expect(await service.storedBytes(account.id)).toBe(4);
    await here.leave();
  });
});
