import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HAS_BROWSER, openAs, sharedBrowser, type Visit, visit } from '../support/browser.ts';
import { client } from '../support/client.ts';
import { inherited } from '../support/inherited.ts';
import { borrowTestService, type TestAccount, type TestService } from '../support/service.ts';

let service: TestService;
let browser: Browser;
let account: TestAccount;
let here: Visit;
let directory: string;

describe.runIf(HAS_BROWSER)('the page of API keys', () => {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'keys-'));
    await writeFile(join(directory, 'photo.jpg'), 'not much of a photo');
    [service, browser] = await Promise.all([borrowTestService(), sharedBrowser()]);
    account = await service.newAccount();
    here = await visit(browser);
    await openAs(here, service, account.cookie, '/dashboard/api-keys');
  });
  afterAll(async () => {
    await service.close();
    await rm(directory, { recursive: true });
  });

  async function createKey(page: Page, name: string): Promise<string> {
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Your new API key' }).waitFor();
    const key = page.getByRole('region', { name: 'API key' });
    await expect.poll(() => key.evaluate((shown) => shown === document.activeElement)).toBe(true);
    return key.innerText();
  }

  async function closeDialog(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Done, I have saved it' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  }

  const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });

  /** Runs the shell commands that the page shows. @returns the JSON that they print. */
  async function shell(lines: string, input = ''): Promise<Record<string, unknown>> {
    const running = promisify(execFile)('bash', ['-c', lines], { cwd: directory, env: inherited() });
    running.child.stdin?.end(input);
    return JSON.parse((await running).stdout);
  }

  test('shows a new key once, and its curl and shell commands upload a file', async () => {
    const { page } = here;
    const key = await createKey(page, 'Laptop');
    const lines = async () => (await page.getByRole('tabpanel').locator('pre').innerText()).trim();
    expect(await shell(await lines())).toMatchObject({ name: 'photo.jpg', mime_type: 'image/jpeg' });
    await page.getByRole('tab', { name: 'Shell' }).click();
    const script = await lines();
    expect(script).not.toContain(key);
    expect(await shell(script, `${key}\n`)).toMatchObject({ name: 'photo.jpg' });

    // Neither a click beside the dialog nor Escape closes it.
    await page.mouse.click(5, 5);
    await page.keyboard.press('Escape');
    expect(await page.getByRole('region', { name: 'API key' }).innerText()).toBe(key);
    await closeDialog(page);
    await rowOf(page, 'Laptop')
      .getByRole('cell', { name: key.slice(0, 12) })
      .waitFor();
    await expect.poll(() => page.content()).not.toContain(key);
    await page.reload();
    const ago = rowOf(page, 'Laptop').getByRole('button', { name: /minute|now/ });
    await ago.focus();
    await page.getByRole('tooltip', { name: /\b20\d\d\b/ }).waitFor();
  });

  test('lists a new key even when the list was requested before the key was created', async () => {
    const early = await visit(browser);
    const { page } = early;
    const { promise: made, resolve: isMade } = Promise.withResolvers<void>();
    let lists = 0;
    await page.route('**/api/v1/api-keys', async (route) => {
      if (route.request().method() !== 'GET' || ++lists > 1) return route.fallback();
      const response = await route.fetch();
      await made;
      await route.fulfill({ response }).catch(() => {});
    });
    page.on('response', (response) => {
      if (response.request().method() === 'POST' && response.url().endsWith('/api/v1/api-keys')) isMade();
    });
    await openAs(early, service, account.cookie, '/dashboard/api-keys');
    await createKey(page, 'Early');
    await closeDialog(page);
    await rowOf(page, 'Early').waitFor();
    await early.leave();
  });

  test('shows a new key even when Escape is pressed while it is being created', async () => {
    const { page } = here;
    await page.route('**/api/v1/api-keys', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      const response = await route.fetch();
      await page.keyboard.press('Escape');
      await route.fulfill({ response });
    });
    await createKey(page, 'In a hurry');
    await closeDialog(page);
    await page.unroute('**/api/v1/api-keys');
  });

  test('asks before a new key is lost by the back button or a reload', async () => {
    const { page } = here;
    await page.getByRole('link', { name: 'Files', exact: true }).click();
    await page.getByRole('link', { name: 'API keys', exact: true }).click();
    const key = await createKey(page, 'not to be lost');
    for (const leave of [() => page.goBack(), () => page.reload()]) {
      const asked = page.waitForEvent('dialog');
      const leaving = leave().catch(() => undefined);
      await (await asked).dismiss();
      // The navigation that was refused never ends.
      void leaving;
      expect(await page.getByRole('region', { name: 'API key' }).innerText()).toBe(key);
    }
    await closeDialog(page);
    await page.goBack();
    await page.getByRole('searchbox').or(page.getByText('Upload your first file')).waitFor();
    await page.getByRole('link', { name: 'API keys', exact: true }).click();
  });

  test('offers a configuration file for ShareX, which uploads with the key', async () => {
    const { page } = here;
    const key = await createKey(page, 'ShareX');
    await page.getByRole('tab', { name: 'ShareX' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download .sxcu' }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe('localhost.sxcu');
    const config = JSON.parse(await readFile(await file.path(), 'utf8'));
    expect(config).toEqual({
      Version: '15.0.0',
      Name: `${new URL(service.urls.root_url).host} ${key.slice(0, 12)}`,
      DestinationType: 'ImageUploader, TextUploader, FileUploader',
      RequestMethod: 'POST',
      RequestURL: `${service.urls.base_url}/files`,
      Headers: { Authorization: `Bearer ${key}` },
      Body: 'MultipartFormData',
      FileFormName: 'file',
      URL: '{json:url}',
      ErrorMessage: '{json:error}',
    });
    const ajv = addFormats.default(new Ajv2020({ strict: false }));
    const check = ajv.compile(JSON.parse(await readFile(join(import.meta.dirname, 'share-x.schema.json'), 'utf8')));
    check(config);
    expect(check.errors ?? []).toEqual([]);
    // The request that ShareX makes with this configuration.
    const form = new FormData();
    form.append(config.FileFormName, new File(['shot'], 'shot.png', { type: 'image/png' }));
    const answer = await fetch(config.RequestURL, {
      method: config.RequestMethod,
      headers: config.Headers,
      body: form,
    });
    expect(await (await fetch((await answer.json()).url)).text()).toBe('shot');
    await closeDialog(page);
  });

  test('creates and revokes nothing without a network, not even later', async () => {
    const { page, context } = here;
    const before = await page.getByRole('row').count();
    await context.setOffline(true);
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Offline');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('alert').getByText('No connection to the service.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Revoke Laptop' }).click();
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    const notice = page.getByRole('alert').filter({ hasText: 'Something went wrong' });
    await notice.getByRole('button', { name: 'Close' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await context.setOffline(false);
    await page.reload();
    await rowOf(page, 'Laptop').waitFor();
    expect(await page.getByRole('row').count()).toBe(before);
  });

  test('explains why a name is rejected', async () => {
    const { page } = here;
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('\u202eevil');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('This name contains characters that are invisible').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });

  test('revokes a key after a confirmation, and the key is rejected from then on', async () => {
    const { page } = here;
    const key = await createKey(page, 'To be revoked');
    await closeDialog(page);
    const byKey = client(service.urls.base_url, { key });
    expect((await byKey.request('GET', '/files')).status).toBe(200);
    await page.getByRole('button', { name: 'Revoke To be revoked' }).click();
    await page.getByRole('dialog').getByText('This cannot be undone').waitFor();
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await rowOf(page, 'To be revoked').waitFor({ state: 'detached' });
    expect((await byKey.request('GET', '/files')).status).toBe(401);
    await here.leave();
  });
});
