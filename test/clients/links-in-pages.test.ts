import { once } from 'node:events';
import { glob, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HAS_BROWSER, sharedBrowser, type Visit, visit } from '../support/browser.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';

/** A picture of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
/** An empty module: its magic number and its version. */
const WASM = Buffer.from('0061736d01000000', 'hex');

/** Serves one empty page, which the links are of another origin for. */
const site = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'));

let service: TestService;
let account: TestAccount;
let browser: Browser;
let here: Visit;
let page: Page;

describe.runIf(HAS_BROWSER)('a page of another origin', () => {
  beforeAll(async () => {
    site.listen(0, '127.0.0.1');
    [service, browser] = await Promise.all([startTestService(), sharedBrowser(), once(site, 'listening')]);
    account = await service.newAccount();
    here = await visit(browser, { isFirst: true });
    page = here.page;
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  });
  afterAll(async () => {
    await here.leave();
    site.close();
    await service.close();
  });

  async function link(name: string, content: string | Uint8Array<ArrayBuffer>, type: string): Promise<string> {
    return String((await account.byKey.upload(name, content, { type })).body.url);
  }

  test('draws a picture onto a canvas and reads its pixels, also when it has shown it without CORS before', async () => {
    const url = await link('a.png', PNG, 'image/png');
    const pixels = await page.evaluate(async (src) => {
      const show = async (image: HTMLImageElement) => {
        image.src = src;
        await image.decode();
        return image;
      };
      await show(new Image());
      const image = await show(Object.assign(new Image(), { crossOrigin: 'anonymous' }));
      const context = document.createElement('canvas').getContext('2d');
      context?.drawImage(image, 0, 0);
      return context?.getImageData(0, 0, 1, 1).data.length;
    }, url);
    expect(pixels).toBe(4);
  });

  test('fetches a part of a file, with a preflight, and sees the headers of the answer', async () => {
    const url = await link('ü.csv', '0123456789', 'text/csv');
    const seen = await page.evaluate(async (address) => {
      const answer = await fetch(address, { headers: { range: 'bytes=2-4', 'x-requested-with': 'a page' } });
      const names = ['content-range', 'content-length', 'content-disposition', 'etag', 'accept-ranges'];
      return {
        status: answer.status,
        text: await answer.text(),
        hidden: names.filter((name) => !answer.headers.has(name)),
      };
    }, url);
    expect(seen).toEqual({ status: 206, text: '234', hidden: [] });
  });

  test('reads the error of a link without a file', async () => {
    const url = `${service.urls.cdn_url}/uploads/${'a'.repeat(22)}/a.txt`;
    const seen = await page.evaluate(async (address) => {
      const answer = await fetch(address);
      return [answer.status, await answer.json()] as const;
    }, url);
    expect(seen).toEqual([404, { error: 'not_found' }]);
  });

  test.each([
    ['a.csv', 'text/csv'],
    ['a.json', 'application/json'],
    ['a.md', 'text/markdown'],
    ['a.py', 'application/octet-stream'],
    ['a.sh', 'application/x-sh'],
    ['a.js', 'text/javascript'],
  ])('leads to %s, which is shown as text and executes nothing', async (name, type) => {
    const content = 'document.title = "executed"; <b>naïve</b>';
    const url = await link(name, content, type);
    const opened = await here.page.context().newPage();
    const answer = await opened.goto(url);
    expect(answer?.headers()['content-security-policy']).toBe("sandbox; default-src 'none'");
    expect(await opened.locator('body').innerText()).toBe(content);
    expect(await opened.title()).not.toBe('executed');
    await opened.close();
  });

  test('loads a script that a frame has shown as text before, and shows a table as text that it has fetched before', async () => {
    const show = (src: string) =>
      page.evaluate(async (address) => {
        const frame = Object.assign(document.createElement('iframe'), { src: address });
        const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
        document.body.append(frame);
        await loaded;
      }, src);
    const script = await link('shown.js', 'export default 42;', 'text/javascript');
    await show(script);
    expect(await page.evaluate(`import(${JSON.stringify(script)}).then((module) => module.default)`)).toBe(42);
    const table = await link('fetched.csv', 'a,b', 'text/csv');
    const fetched = (address: string) =>
      page.evaluate(async (url) => (await fetch(url)).headers.get('content-type'), address);
    expect(await fetched(table)).toBe('text/csv; charset=utf-8');
    await show(table);
    expect(await fetched(table)).toBe('text/csv; charset=utf-8');
    const frame = page.frames().find((one) => one.url() === table);
    expect(await frame?.locator('body').innerText()).toBe('a,b');
  });

  test('imports a module', async () => {
    const url = await link('a.js', 'export default 42;', 'text/javascript');
    // As text, because Vitest rewrites `import()`.
    expect(await page.evaluate(`import(${JSON.stringify(url)}).then((module) => module.default)`)).toBe(42);
  });

  test('compiles WebAssembly while it arrives', async () => {
    const url = await link('a.wasm', WASM, 'application/wasm');
    const compiled = await page.evaluate(
      async (address) => String(await WebAssembly.compileStreaming(fetch(address))),
      url,
    );
    expect(compiled).toBe('[object WebAssembly.Module]');
  });

  test('shows the subtitles of a video', async () => {
    const url = await link('a.vtt', 'WEBVTT\n\n00:00.000 --> 00:05.000\nHello\n', 'text/vtt');
    const cue = await page.evaluate(async (src) => {
      const video = Object.assign(document.createElement('video'), { crossOrigin: 'anonymous' });
      const track = Object.assign(document.createElement('track'), { src, default: true });
      video.append(track);
      document.body.append(video);
      const loaded = new Promise((resolve, reject) => {
        track.onload = resolve;
        track.onerror = () => reject(new Error('the subtitles did not load'));
      });
      track.track.mode = 'showing';
      await loaded;
      return track.track.cues?.length;
    }, url);
    expect(cue).toBe(1);
  });

  test('loads a font', async () => {
    const url = await link('a.ttf', await someFont(), 'font/ttf');
    const status = await page.evaluate(
      async (address) => (await new FontFace('a', `url(${address})`).load()).status,
      url,
    );
    expect(status).toBe('loaded');
  });
});

/** The icons of Playwright's own pages: its package is here, and no other font is. */
async function someFont(): Promise<Uint8Array<ArrayBuffer>> {
  const folder = join(
    createRequire(import.meta.url).resolve('playwright-core/package.json'),
    '../lib/vite/traceViewer',
  );
  for await (const file of glob('*.ttf', { cwd: folder })) return new Uint8Array(await readFile(join(folder, file)));
  throw new Error(`no font in ${folder}`);
}
