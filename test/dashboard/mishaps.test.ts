import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  drop,
  HAS_BROWSER,
  openAccount,
  sharedBrowser,
  slowUploads,
  uploadableFile,
  uploadPanel,
  type Visit,
  type VisitOptions,
} from '../support/browser.ts';
import { borrowTestService, type TestAccount, type TestService } from '../support/service.ts';

const MIB = 1024 * 1024;
const SMALL = { name: 'small.txt', mimeType: 'text/plain', buffer: Buffer.from('small') };
const LARGE_BYTES = 4.5 * MIB;

let service: TestService;
let browser: Browser;
let account: TestAccount;
let here: Visit;
/** The path of a file that is too large for a form. */
let large: string;

describe.runIf(HAS_BROWSER)('an upload in the dashboard', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([borrowTestService(), sharedBrowser()]);
    large = await uploadableFile('large.bin', LARGE_BYTES);
  });
  afterAll(async () => {
    await service.close();
  });

  async function arrive(options?: VisitOptions): Promise<Page> {
    ({ account, here } = await openAccount(service, browser, options));
    return here.page;
  }

  const files = (page: Page) => page.getByTestId('files');

  async function names(): Promise<string[]> {
    const { body } = await account.byKey.request<{ items: { name: string }[] }>('GET', '/files');
    return body.items.map(({ name }) => name);
  }

  test('is retried after a 500, and can be retried by the user after four attempts', async () => {
    const page = await arrive({ isFirst: true });
    let answers = 0;
    await page.clock.install();
    await page.route('**/api/v1/files', (route) => {
      if (route.request().method() !== 'POST' || ++answers > 4) return route.fallback();
      const headers = { 'x-request-id': `request-${answers}` };
      return route.fulfill({ status: 500, headers, json: { error: 'internal_error' } });
    });
    await files(page).setInputFiles(SMALL);
    await expect
      .poll(async () => {
        await page.clock.runFor(1_000);
        return uploadPanel(page).getByText('The service had an unexpected error.', { exact: true }).isVisible();
      })
      .toBe(true);
    expect(answers).toBe(4);
    await uploadPanel(page).getByRole('button', { name: 'Copy the id of the request, for support' }).click();
    await page.clock.runFor(100);
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('request-4');
    await page.getByRole('button', { name: 'Upload small.txt again' }).click();
    await expect
      .poll(async () => {
        await page.clock.runFor(1_000);
        return uploadPanel(page).getByText('1 file uploaded').isVisible();
      })
      .toBe(true);
    expect(await names()).toEqual(['small.txt']);
    await here.leave();
  });

  test.for([
    ['in a form', 'small.txt', '**/api/v1/files'],
    ['directly to the storage', 'large.bin', '**/complete'],
  ] as const)('an upload %s is stored once although the answer was lost', async ([, name, lost]) => {
    const page = await arrive();
    let losses = 0;
    await page.route(lost, async (route) => {
      if (route.request().method() !== 'POST' || losses++ > 0) return route.fallback();
      await route.fetch();
      await route.abort('connectionreset');
    });
    await files(page).setInputFiles(name === SMALL.name ? SMALL : large);
    await uploadPanel(page).getByText('1 file uploaded').waitFor();
    expect(losses).toBeGreaterThan(0);
    expect(await names()).toEqual([name]);
    await here.leave();
  });

  test('gets another URL when the first one has expired before its bytes were sent, and is stored once', async () => {
    const page = await arrive();
    const urls: string[] = [];
    await page.route('**/incoming/**', async (route) => {
      if (route.request().method() === 'PUT') urls.push(route.request().url());
      if (urls.length > 1) return route.fallback();
      // A signed URL holds its time in whole seconds, so two URLs of the same second would be equal.
      await setTimeout(1_000);
      // The answer of S3 when a URL is older than 15 minutes.
      await route.fulfill({ status: 403, body: '<Error>AccessDenied</Error>' });
    });
    await files(page).setInputFiles(large);
    await uploadPanel(page).getByText('1 file uploaded').waitFor();
    expect(new Set(urls.map((url) => new URL(url).pathname)).size).toBe(1);
    expect(new Set(urls).size).toBe(2);
    expect(await names()).toEqual(['large.bin']);
    await here.leave();
  });

  test('releases its reserved bytes when the user removes it from the list after its bytes did not arrive', async () => {
    const page = await arrive({ isFirst: true });
    const used = async () =>
      (await account.bySession.request<{ storage_used_bytes: number }>('GET', '/auth/me')).body.storage_used_bytes;
    await page.clock.install();
    await page.route('**/incoming/**', (route) => route.abort('connectionreset'));
    await files(page).setInputFiles(large);
    const row = uploadPanel(page).getByText('No connection to the service.', { exact: true });
    await expect
      .poll(async () => {
        await page.clock.runFor(1_000);
        return row.isVisible();
      })
      .toBe(true);
    expect(await used()).toBe(LARGE_BYTES);
    await page.getByRole('button', { name: 'Remove large.bin from the list' }).click();
    await expect.poll(used).toBe(0);
    await here.leave();
  });

  test('waits for the Retry-After of a 429', async () => {
    const page = await arrive();
    const sentAt: number[] = [];
    await page.route('**/api/v1/files', (route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      sentAt.push(Date.now());
      if (sentAt.length > 1) return route.fallback();
      return route.fulfill({ status: 429, headers: { 'Retry-After': '2' }, json: { error: 'rate_limit_exceeded' } });
    });
    await files(page).setInputFiles(SMALL);
    await uploadPanel(page).getByText('Waiting. Too many requests in a minute.').waitFor();
    await uploadPanel(page).getByText('1 file uploaded').waitFor();
    const [first = 0, second = 0] = sentAt;
    expect(second - first).toBeGreaterThanOrEqual(2_000);
    await here.leave();
  });

  test('waits when the last answer has used up the rate limit', async () => {
    const page = await arrive();
    const sentAt: number[] = [];
    await page.route('**/api/v1/files', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      sentAt.push(Date.now());
      const response = await route.fetch();
      const headers = { ...response.headers(), ...(sentAt.length === 1 && { ratelimit: '"uploads";r=0;t=2' }) };
      await route.fulfill({ response, headers });
    });
    await files(page).setInputFiles(SMALL);
    await uploadPanel(page).getByText('1 file uploaded').waitFor();
    await files(page).setInputFiles(SMALL);
    await uploadPanel(page).getByText('2 files uploaded').waitFor();
    const [first = 0, second = 0] = sentAt;
    expect(second - first).toBeGreaterThanOrEqual(2_000);
    await here.leave();
  });

  test('continues when the network is back, and closing the tab before that asks for confirmation', async () => {
    const page = await arrive();
    await here.context.setOffline(true);
    await files(page).setInputFiles(SMALL);
    await uploadPanel(page).getByText('Waiting. No connection to the service.').waitFor();
    const asked = page.waitForEvent('dialog');
    await page.close({ runBeforeUnload: true });
    await (await asked).dismiss();
    await here.context.setOffline(false);
    await uploadPanel(page).getByText('1 file uploaded').waitFor();
    await here.leave();
  });

  test('shows no speed and no remaining time while there is no network', async () => {
    const page = await arrive();
    await slowUploads(page, 500_000);
    await files(page).setInputFiles(large);
    await uploadPanel(page).getByText('/s · ').waitFor();
    await here.context.setOffline(true);
    await uploadPanel(page)
      .getByText(/ · No connection$/)
      .waitFor();
    expect(await uploadPanel(page).innerText()).not.toMatch(/\/s|left/);
    // The network comes back without the limit of the speed. So the upload, if it were still there, could end before the click.
    await uploadPanel(page).getByRole('button', { name: 'Cancel the upload of large.bin' }).click();
    await here.context.setOffline(false);
    await here.leave();
  });

  test('stays visible while the code of another page cannot be loaded, and that page appears when the network is back', async () => {
    const page = await arrive({ isFirst: true });
    await page.evaluate(() => Object.assign(window, { isSame: true }));
    await here.context.setOffline(true);
    await files(page).setInputFiles(SMALL);
    await page.getByRole('link', { name: 'API reference' }).click();
    await page.getByRole('main').getByRole('alert').getByText('This page could not be loaded.').waitFor();
    await page.getByRole('main').getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('main').getByRole('alert').getByText('This page could not be loaded.').waitFor();
    await uploadPanel(page).getByText('Waiting. No connection to the service.').waitFor();
    await here.context.setOffline(false);
    await page.getByRole('heading', { name: 'API reference' }).waitFor();
    await page.getByText('/api/v1/auth/me').waitFor();
    await uploadPanel(page).getByText('1 file uploaded').waitFor();
    expect(await page.evaluate(() => 'isSame' in window)).toBe(true);
    await here.leave();
  });

  test.for([
    ['script', '**/assets/reference-page-*.js*'],
    ['style sheet', '**/assets/reference-page-*.css*'],
    ['document', '**/openapi.json'],
  ] as const)(
    'stays visible while the %s of the API reference cannot be loaded, which is asked for until it comes',
    async ([, what]) => {
      const page = await arrive({ isFirst: true });
      let losses = 0;
      await page.route(what, (route) => (losses++ < 2 ? route.abort() : route.fallback()));
      await files(page).setInputFiles(SMALL);
      await uploadPanel(page).getByText('1 file uploaded').waitFor();
      await page.getByRole('link', { name: 'API reference' }).click();
      await page.getByRole('main').getByRole('alert').getByText('could not be loaded.').waitFor();
      await page.getByText('/api/v1/auth/me').waitFor();
      expect(losses).toBeGreaterThan(2);
      // The style sheet of Swagger UI applies.
      expect(
        await page
          .locator('.opblock')
          .first()
          .evaluate((block) => getComputedStyle(block).marginBottom),
      ).not.toBe('0px');
      await uploadPanel(page).getByText('1 file uploaded').waitFor();
      await here.leave();
    },
  );

  test('fails with an explanation when the file is changed meanwhile', async () => {
    const page = await arrive();
    const directory = await mkdtemp(join(tmpdir(), 'mishaps-'));
    const path = join(directory, 'draft.bin');
    await writeFile(path, Buffer.alloc(8 * MIB));
    await slowUploads(page, 2 * MIB);
    await files(page).setInputFiles(path);
    await uploadPanel(page).getByRole('progressbar', { name: 'draft.bin' }).waitFor();
    await writeFile(path, Buffer.alloc(5 * MIB));
    await uploadPanel(page).getByText('This file cannot be read any more').waitFor();
    await rm(directory, { recursive: true });
    await here.leave();
  });

  test('fails at once when the file is too large, without sending it', async () => {
    const page = await arrive();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.method()));
    await drop(page, [await uploadableFile('huge.bin', 100 * MIB + 1)]);
    await uploadPanel(page).getByText('Too large: a file may be at most 100 MB.').waitFor();
    expect(requests).not.toContain('POST');
    await here.leave();
  });

  test('is not started when text with a picture of it is pasted into a field', async () => {
    const page = await arrive();
    await page.getByRole('link', { name: 'API keys', exact: true }).click();
    await page.getByRole('button', { name: 'Create API key' }).click();
    const paste = (element: HTMLElement | SVGElement, text: string) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['cells'], 'cells.png', { type: 'image/png' }));
      if (text !== '') transfer.setData('text/plain', text);
      element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: transfer, bubbles: true }));
    };
    await page.getByRole('textbox', { name: 'Name' }).evaluate(paste, 'cells');
    // A picture without text is uploaded, because a field cannot use it.
    await page.getByRole('textbox', { name: 'Name' }).evaluate(paste, '');
    await uploadPanel(page).getByText('1 file uploaded').waitFor();
    expect(await names()).toEqual(['cells.png']);
    await here.leave();
  });

  test('leaves out a dropped file that cannot be read, with a message, and uploads the others', async () => {
    const page = await arrive();
    // The tests may read every file, so the browser is told that it may not read this one.
    await page.evaluate(() => {
      const { webkitGetAsEntry } = DataTransferItem.prototype;
      const file = (_: unknown, fail: (error: Error) => void) =>
        fail(new DOMException('no such file', 'NotFoundError'));
      DataTransferItem.prototype.webkitGetAsEntry = function () {
        const entry = webkitGetAsEntry.call(this);
        return entry?.name === 'gone.txt' ? Object.assign(entry, { file }) : entry;
      };
    });
    await drop(page, [await uploadableFile('gone.txt', 7), await uploadableFile('there.txt', 7)]);
    const named = page.getByRole('alert').getByText('gone.txt', { exact: true });
    expect(await named.evaluate((name) => name.closest('[translate=no]') !== null)).toBe(true);
    await uploadPanel(page).getByText('1 file uploaded').waitFor();
    expect(await names()).toEqual(['there.txt']);
    await here.leave();
  });

  test('leads to the login when the session has ended', async () => {
    const page = await arrive();
    await here.context.clearCookies();
    await files(page).setInputFiles(SMALL);
    await page.getByRole('link', { name: 'Continue with Google' }).waitFor();
    await here.leave();
  });
});
