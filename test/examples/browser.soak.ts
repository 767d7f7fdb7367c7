import { type ChildProcess, spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HAS_BROWSER, sharedBrowser, visit } from '../support/browser.ts';
import { inherited } from '../support/inherited.ts';
import { newProject } from '../support/project.ts';
import { borrowTestService, type TestAccount, type TestService } from '../support/service.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples/browser');

let service: TestService;
let browser: Browser;
let account: TestAccount;
/** The folder of the page, and the server of the examples that serves it. */
let folder: string;
let server: ChildProcess;
let address: string;

describe.runIf(HAS_BROWSER)('the example of an upload widget', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([borrowTestService(), sharedBrowser()]);
    account = await service.newAccount();
    folder = await mkdtemp(join(tmpdir(), 'widgets-'));
    await copyFile(join(EXAMPLES, 'index.html'), join(folder, 'index.html'));
    const variables = {
      FILE_HOSTING_URL: service.urls.root_url,
      FILE_HOSTING_KEY: account.key,
      PAGE: folder,
      PORT: '0',
    };
    const env = { ...inherited(), ...variables };
    server = spawn(process.execPath, [join(EXAMPLES, 'server.mjs')], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: server.stdout as NodeJS.ReadableStream });
    address = await new Promise((resolve) => lines.once('line', resolve));
  });
  afterAll(async () => {
    server.kill();
    await rm(folder, { recursive: true });
    await service.close();
  });

  /** Opens the page with one of the examples. `link` waits for the next link that the page reports for a file. */
  async function open(example: string) {
    const entryPoints = [join(EXAMPLES, example)];
    await build({ entryPoints, bundle: true, format: 'esm', outfile: join(folder, 'page.js'), logLevel: 'error' });
    const here = await visit(browser, { isFirst: true });
    const loaded = here.page.goto(address);
    const link = async (name: string): Promise<string> => {
      const message = await here.page.waitForEvent('console', (one) => one.text().startsWith(`${name}: `));
      return message.text().slice(name.length + 2);
    };
    await loaded;
    return { here, page: here.page, link };
  }

  interface Chosen {
    /** The field for files, and the button that starts the upload if choosing a file does not. */
    readonly input: string;
    readonly button?: string;
    readonly name: string;
    readonly bytes: number;
  }

  const UPPY = { input: 'input.uppy-Dashboard-input', button: '.uppy-StatusBar-actionBtn--upload' };

  /** Chooses a file in an opened page, and expects that the link that the page reports leads to it. */
  async function upload({ page, link }: Awaited<ReturnType<typeof open>>, chosen: Chosen): Promise<void> {
    const { input, button, name, bytes } = chosen;
    const reported = link(name);
    const buffer = Buffer.alloc(bytes, 'x');
    await page.locator(input).first().setInputFiles({ name, mimeType: 'text/plain', buffer });
    if (button) await page.locator(button).click();
    const stored = await fetch(await reported);
    expect(stored.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(Buffer.from(await stored.arrayBuffer()).equals(buffer)).toBe(true);
  }

  test('Uppy with forms uploads a file', async () => {
    const opened = await open('uppy.js');
    await upload(opened, { ...UPPY, name: 'note %.txt', bytes: 300_000 });
    await opened.here.leave();
  });

  test('Uppy makes one file when the answer to its first request is lost', async () => {
    const opened = await open('uppy.js');
    let requests = 0;
    await opened.page.route('**/files', async (route) => {
      requests += 1;
      const answer = await route.fetch();
      await (requests === 1 ? route.abort() : route.fulfill({ response: answer }));
    });
    await upload(opened, { ...UPPY, name: 'repeated.txt', bytes: 1_000 });
    const { body } = await account.byKey.request('GET', '/files?search=repeated.txt');
    expect([requests, body.total]).toEqual([2, 1]);
    await opened.here.leave();
  });

  test('Uppy with direct uploads sends the bytes to the storage, and completes the upload', async () => {
    const opened = await open('uppy-direct.js');
    const sent: string[] = [];
    opened.page.on('request', (request) => request.method() === 'PUT' && sent.push(new URL(request.url()).origin));
    await upload(opened, { ...UPPY, name: 'large note.txt', bytes: 6_000_000 });
    expect(sent).toHaveLength(1);
    expect(sent).not.toContain(new URL(address).origin);
    await opened.here.leave();
  });

  test('FilePond uploads a file, and deletes it when it is removed from the list', async () => {
    const opened = await open('filepond.js');
    const { here, page } = opened;
    await upload(opened, { input: 'input[type=file]', name: 'pond.txt', bytes: 5_000_000 });
    const deleted = page.waitForResponse((response) => response.request().method() === 'DELETE');
    await page.locator('.filepond--action-revert-item-processing').click();
    expect((await deleted).status()).toBe(200);
    const { body } = await account.byKey.request('GET', '/files?search=pond.txt');
    expect(body.total).toBe(0);
    await here.leave();
  });

  test('Dropzone uploads a file', async () => {
    const opened = await open('dropzone.js');
    await upload(opened, { input: 'input.dz-hidden-input', name: 'dropped.txt', bytes: 100_000 });
    await opened.here.leave();
  });

  test('is served by a server that forwards no other requests', async () => {
    for (const [method, path] of [
      ['GET', '/files'],
      ['GET', '/api/v1/files'],
      ['POST', '/api-keys'],
      ['DELETE', '/files/../api-keys/1'],
      ['GET', '/../server.mjs'],
    ]) {
      expect((await fetch(address + path, { method })).status).toBe(404);
    }
  });
});

describe.runIf(HAS_BROWSER)('the example of a web app', () => {
  test('uploads with a ticket of its server, without a key in the page, and can be stopped', async () => {
    const [service, browser, project] = await Promise.all([borrowTestService(), sharedBrowser(), newProject()]);
    const { key, byKey } = await service.newAccount();
    const example = join(EXAMPLES, '../web-app');
    for (const name of ['index.html', 'server.mjs', 'page.js'])
      await copyFile(join(example, name), join(project, name));
    const outfile = join(project, 'built/page.js');
    await build({ entryPoints: [join(project, 'page.js')], bundle: true, format: 'esm', outfile, logLevel: 'error' });
    await copyFile(join(project, 'index.html'), join(project, 'built/index.html'));
    const env = {
      ...inherited(),
      FILE_HOSTING_URL: service.urls.root_url,
      FILE_HOSTING_KEY: key,
      PAGE: join(project, 'built'),
      PORT: '0',
    };
    const child = spawn(process.execPath, [join(project, 'server.mjs')], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    const url = await new Promise<string>((resolve) => lines.once('line', resolve));
    const here = await visit(browser, { isFirst: true });
    const { page } = here;
    const texts: string[] = [];
    page.on('request', (request) => texts.push(request.url(), JSON.stringify(request.headers())));
    await page.goto(url);
    const buffer = Buffer.alloc(5_000_000, 'x');
    await page.locator('#file').setInputFiles({ name: 'film.txt', mimeType: 'text/plain', buffer });
    const link = page.locator('#text', { hasText: '/uploads/' });
    await link.waitFor();
    expect(Buffer.from(await (await fetch(await link.innerText())).arrayBuffer()).equals(buffer)).toBe(true);
    expect(texts.filter((text) => text.includes(key))).toEqual([]);
    const held = Promise.withResolvers<void>();
    await page.route(/X-Amz-Signature/, async (route) => {
      if (route.request().method() !== 'PUT') return route.fallback();
      held.resolve();
    });
    await page.locator('#file').setInputFiles({ name: 'b.txt', mimeType: 'text/plain', buffer });
    await held.promise;
    await page.locator('#stop').click();
    await page.locator('#text', { hasText: 'aborted' }).waitFor();
    const { body: usage } = await byKey.request('GET', '/usage');
    expect(usage).toMatchObject({ file_count: 1, storage_used_bytes: buffer.length });
    await here.leave();
    child.kill();
    await rm(project, { recursive: true });
    await service.close();
  });
});
