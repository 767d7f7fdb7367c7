import { join } from 'node:path';
import { build } from 'esbuild';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HAS_BROWSER, openAs, sharedBrowser, type Visit, visit } from '../support/browser.ts';
import { borrowTestService, type TestAccount, type TestService } from '../support/service.ts';

let service: TestService;
let browser: Browser;
let account: TestAccount;
let here: Visit;
let page: Page;

const operation = (name: string): Locator => page.locator(`[id$="-${name}"].opblock`);

/** Opens an operation and lets it be tried out. */
async function tryOut(name: string): Promise<Locator> {
  const one = operation(name);
  await one.locator('.opblock-summary-control').click();
  await one.getByRole('button', { name: 'Try it out' }).click();
  return one;
}

/** Sends the request of an operation. @returns status and body of the answer that is shown. */
async function execute(one: Locator): Promise<{ status: string; body: unknown }> {
  await one.getByRole('button', { name: 'Execute' }).click();
  const shown = one.locator('.live-responses-table .response');
  const status = await shown.locator('.response-col_status').innerText();
  return { status: status.trim(), body: JSON.parse(await shown.locator('.microlight').first().innerText()) };
}

describe.runIf(HAS_BROWSER)('the API reference', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([borrowTestService(), sharedBrowser()]);
    account = await service.newAccount();
    here = await visit(browser, { colorScheme: 'light', isFirst: true });
    page = here.page;
    await openAs(here, service, account.cookie, '/dashboard/docs');
    await page.getByText('/api/v1/auth/me').waitFor();
  });
  afterAll(async () => {
    await here.leave();
    await service.close();
  });

  test('shows every operation of the document but HEAD', async () => {
    const { paths } = await (await fetch(`${service.urls.base_url}/openapi.json`)).json();
    const documented = Object.values<Record<string, { operationId: string }>>(paths).flatMap(
      ({ head: _, ...methods }) => Object.values(methods).map(({ operationId }) => operationId),
    );
    const ids = await page.locator('.opblock').evaluateAll((blocks) => blocks.map(({ id }) => id.split('-').at(-1)));
    expect(ids.sort()).toEqual(documented.sort());
  });

  test('uploads a chosen file, and lists it, with the session of the person who is logged in', async () => {
    const upload = await tryOut('uploadFile');
    await upload
      .locator('input[type=file]')
      .setInputFiles({ name: 'tried out.txt', mimeType: 'text/plain', buffer: Buffer.from('tried') });
    const uploaded = await execute(upload);
    expect(uploaded).toMatchObject({ status: '201', body: { name: 'tried out.txt', size_bytes: 5 } });
    expect(await execute(await tryOut('listFiles'))).toMatchObject({
      status: '200',
      body: { items: [uploaded.body], total: 1 },
    });
  });

  test('does not offer to try out the login, which leads to other sites', async () => {
    const login = operation('startLogin');
    await login.locator('.opblock-summary-control').click();
    await login.getByText('Google').first().waitFor();
    expect(await login.getByRole('button', { name: 'Try it out' }).count()).toBe(0);
  });

  test('shows the samples of an operation, and copies the one that is shown', async () => {
    const samples = operation('uploadFile').getByRole('region', { name: 'Samples' });
    await samples.getByRole('button', { name: 'Go', exact: true }).click();
    const code = await samples.locator('pre').innerText();
    expect(code).toContain('package main');
    await samples.getByRole('button', { name: 'Copy this sample' }).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(code);
  });

  test('follows the colour scheme of the dashboard', async () => {
    const isDark = () => page.evaluate(() => document.documentElement.classList.contains('dark-mode'));
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(isDark).toBe(true);
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(isDark).toBe(false);
  });

  test('is shown again after another page, and sends no requests to other hosts', async () => {
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('button', { name: 'Create API key' }).waitFor();
    await page.getByRole('link', { name: 'API reference' }).click();
    await page.getByText('/api/v1/auth/me').waitFor();
    expect([...here.hosts]).toEqual([new URL(service.urls.root_url).host]);
  });

  test('has samples in TypeScript that work in a page of the service, with its session', async () => {
    const { paths } = await (await fetch(`${service.urls.base_url}/openapi.json`)).json();
    const samples = Object.values<Record<string, { 'x-codeSamples'?: { lang: string; source: string }[] }>>(paths)
      .flatMap((methods) => Object.values(methods).flatMap((one) => one['x-codeSamples'] ?? []))
      .filter(({ lang, source }) => lang === 'TypeScript' && source.includes('In a page of the service'));
    expect(samples.length).toBeGreaterThan(4);
    for (const { source } of samples) {
      const own = await service.newAccount();
      const collection = source.includes('sessions.') ? '/auth/sessions' : '/api-keys';
      const { body } = await own.bySession.request<{ items: { id: string }[] }>('GET', collection);
      const id = String(body.items[0]?.id);
      const window = await visit(browser);
      window.page.on('dialog', (dialog) => void dialog.accept(id));
      await openAs(window, service, own.cookie, '/dashboard/api-keys');
      const { outputFiles } = await build({
        stdin: {
          contents: `export async function run() {\n${inFunction(source)}\n}`,
          resolveDir: import.meta.dirname,
          loader: 'ts',
        },
        alias: { 'file-hosting-client': join(import.meta.dirname, '../../clients/typescript/src/index.ts') },
        bundle: true,
        format: 'iife',
        globalName: 'sample',
        write: false,
      });
      await window.page.evaluate(`${outputFiles[0]?.text}\nsample.run()`);
      await window.leave();
    }
  });
});

/** Makes the import of a program dynamic, so that the program can be the body of a function. */
const inFunction = (source: string): string =>
  source.replace(/^import ({[^}]+}) from ('[^']+');$/m, 'const $1 = await import($2);');
