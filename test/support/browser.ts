import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Locator,
  type Page,
  chromium as playwright,
} from 'playwright-core';
import type { LocalService } from '../../local-aws/service.ts';
import type { TestAccount, TestService } from './service.ts';

/** The package contains a Chromium for Linux on x64 only. On other platforms the browser tests are skipped, with a warning. */
export const HAS_BROWSER = process.platform === 'linux' && process.arch === 'x64';
if (!HAS_BROWSER) console.warn('The tests in a browser are skipped: that browser runs only on Linux on x64.');

/**
 * Launches a headless Chromium that is installed from npm.
 *
 * It does not use the package's own arguments: `--single-process` crashes, and `--disable-web-security` would hide what a
 * normal browser refuses.
 */
export async function launchBrowser(): Promise<Browser> {
  return playwright.launch({ executablePath: await chromium.executablePath(), args: ['--no-sandbox'], headless: true });
}

let shared: Promise<Browser> | undefined;

/** The browser that all test files of this process share, one file after the other. It ends with the process. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= launchBrowser();
  return shared;
}

/** One user's browser window, without cookies or storage of other users. */
export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Every host, with its port, that a request was sent to. */
  readonly hosts: ReadonlySet<string>;
  /**
   * Closes the window.
   * @throws Error when a page threw, or the browser logged an error, such as a violation of the content security policy.
   */
  leave(): Promise<void>;
}

/** The start of Chromium's log line for a response with status 4xx or 5xx, or for a request without a response. */
const FAILED_REQUEST = /^Failed to load resource: /;

export interface VisitOptions extends BrowserContextOptions {
  /** Uses a new profile, which is not used again: for tests of a first load (no cache) or with a simulated clock. */
  readonly isFirst?: boolean;
}

/** Idle profiles to use again, by the JSON of their options: with a warm cache pages load in half the time. */
const idleProfiles = new WeakMap<Browser, Map<string, BrowserContext[]>>();

/** Opens a window for one user. */
export async function visit(browser: Browser, { isFirst = false, ...options }: VisitOptions = {}): Promise<Visit> {
  const free = idleProfilesOf(browser, JSON.stringify(options));
  const context =
    (isFirst ? undefined : free.pop()) ??
    (await browser.newContext({
      permissions: ['clipboard-read', 'clipboard-write'],
      viewport: { width: 1280, height: 900 },
      ...options,
    }));
  const page = await context.newPage();
  // It ends a test that hangs, as the limits in vitest.config.ts do.
  page.setDefaultTimeout(120_000);
  const problems: string[] = [];
  const hosts = new Set<string>();
  const fail = (problem: string) => {
    problems.push(problem);
    // What waits for the page fails at once, and says why.
    void page.close({ reason: `there was an error in the browser: ${problem}` });
  };
  page.on('pageerror', (error) => fail(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !FAILED_REQUEST.test(message.text())) fail(message.text());
  });
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  return {
    page,
    context,
    hosts,
    async leave() {
      if (isFirst) await context.close();
      else {
        await clearProfile(context);
        free.push(context);
      }
      if (problems.length > 0) throw new Error(`there were errors in the browser:\n${problems.join('\n')}`);
    },
  };
}

function idleProfilesOf(browser: Browser, options: string): BrowserContext[] {
  const all = idleProfiles.get(browser) ?? new Map<string, BrowserContext[]>();
  const free = all.get(options) ?? [];
  idleProfiles.set(browser, all.set(options, free));
  return free;
}

/** Removes a user's cookies and storage from a profile, but keeps the cache. */
async function clearProfile(context: BrowserContext): Promise<void> {
  await context.setOffline(false);
  for (const page of context.pages()) {
    await page.evaluate(() => localStorage.clear());
    await page.close();
  }
  await context.clearCookies();
}

/** Logs in by mouse and keyboard, from a page that shows the login button. */
export async function logInFromPage(page: Page, email: string): Promise<void> {
  await page.getByRole('link', { name: 'Continue with Google' }).click();
  await fillInProviderForm(page, email);
}

/** Fills in the form of the identity provider that takes the place of Google. */
export async function fillInProviderForm(page: Page, email: string): Promise<void> {
  await page.locator('input[name=email]').fill(email);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
}

/** Opens the dashboard with the cookie of an existing session. */
export async function openAs(
  { page, context }: Visit,
  { urls }: Pick<LocalService, 'urls'>,
  cookie: string,
  path = '/dashboard/',
): Promise<void> {
  const [name = '', value = ''] = cookie.split('=');
  await context.addCookies([{ name, value, url: urls.root_url, httpOnly: true, sameSite: 'Lax' }]);
  await page.goto(urls.root_url + path);
}

/** Creates an account and opens its files page, which has no files yet. */
export async function openAccount(
  service: TestService,
  browser: Browser,
  options?: VisitOptions,
): Promise<{ readonly account: TestAccount; readonly here: Visit }> {
  const account = await service.newAccount();
  const here = await visit(browser, options);
  await openAs(here, service, account.cookie);
  await here.page.getByRole('heading', { name: 'Upload your first file' }).waitFor();
  return { account, here };
}

/** The panel that lists all uploads: waiting, running, failed and done. */
export const uploadPanel = (page: Page): Locator => page.getByRole('region', { name: 'Uploads' });

/**
 * Writes a file of zeros for uploads. A page takes a large file by its path, because the bytes of a buffer would go through the debugging
 * protocol. The file is removed with the temporary files of the test run.
 * @returns its path.
 */
export async function uploadableFile(name: string, bytes: number): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'upload-')), name);
  await writeFile(path, Buffer.alloc(bytes));
  return path;
}

/** Limits the page's uploads to `uploadThroughput` bytes per second, so that a test can watch them. */
export async function slowUploads(page: Page, uploadThroughput: number): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  const others = { offline: false, latency: 0, downloadThroughput: -1 };
  await devtools.send('Network.emulateNetworkConditions', { ...others, uploadThroughput });
}

/** Drops files and folders of this machine on the page, as from a file manager. */
export async function drop(page: Page, files: string[]): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await devtools.send('Input.dispatchDragEvent', { type, x: 400, y: 300, data });
  await devtools.detach();
}
