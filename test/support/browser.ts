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

/** The package has a Chromium for Linux on x64 alone; elsewhere the tests in a browser say so and are left out. */
export const HAS_BROWSER = process.platform === 'linux' && process.arch === 'x64';
if (!HAS_BROWSER) console.warn('The tests of the dashboard are left out: their browser runs on Linux on x64 alone.');

/**
 * A headless Chromium that comes from npm alone.
 *
 * Not with the package's own arguments: among them are `--single-process`, which dies, and `--disable-web-security`, which
 * would hide what a browser refuses.
 */
export async function launchBrowser(): Promise<Browser> {
  return playwright.launch({ executablePath: await chromium.executablePath(), args: ['--no-sandbox'], headless: true });
}

let shared: Promise<Browser> | undefined;

/** The browser that all test files of this process share, one file after the other; it ends with the process. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= launchBrowser();
  return shared;
}

/** A person's browser window, with nothing of anybody else in it. */
export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Every host that was asked for anything, with its port. */
  readonly hosts: ReadonlySet<string>;
  /** Closes it, and fails when a page threw or the browser refused something, such as what the page's policy forbids. */
  leave(): Promise<void>;
}

/** What Chromium logs for every answer of 4xx and 5xx, and for a request that is not answered. */
const FAILED_REQUEST = /^Failed to load resource: /;

export interface VisitOptions extends BrowserContextOptions {
  /** A profile that was never here, and that nobody gets afterwards: for a first load, and for a clock that is not real. */
  readonly isFirst?: boolean;
}

/** Profiles that were left, by what they were made with: what is cached in them loads in half the time. */
const left = new WeakMap<Browser, Map<string, BrowserContext[]>>();

export async function visit(browser: Browser, { isFirst = false, ...options }: VisitOptions = {}): Promise<Visit> {
  const free = leftBy(browser, JSON.stringify(options));
  const context =
    (isFirst ? undefined : free.pop()) ??
    (await browser.newContext({
      permissions: ['clipboard-read', 'clipboard-write'],
      viewport: { width: 1280, height: 900 },
      ...options,
    }));
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const problems: string[] = [];
  const hosts = new Set<string>();
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !FAILED_REQUEST.test(message.text())) problems.push(message.text());
  });
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  return {
    page,
    context,
    hosts,
    async leave() {
      if (isFirst) await context.close();
      else {
        await forget(context);
        free.push(context);
      }
      if (problems.length > 0) throw new Error(`in the browser:\n${problems.join('\n')}`);
    },
  };
}

function leftBy(browser: Browser, options: string): BrowserContext[] {
  const all = left.get(browser) ?? new Map<string, BrowserContext[]>();
  const free = all.get(options) ?? [];
  left.set(browser, all.set(options, free));
  return free;
}

/** Leaves nothing of a person in a profile but copies of what everybody loads. */
async function forget(context: BrowserContext): Promise<void> {
  await context.setOffline(false);
  for (const page of context.pages()) {
    await page.evaluate(() => localStorage.clear());
    await page.close();
  }
  await context.clearCookies();
}

/** Logs in as a person does, from wherever the page is, which must be one that asks for it. */
export async function logInThere(page: Page, email: string): Promise<void> {
  await page.getByRole('link', { name: 'Continue with Google' }).click();
  await page.locator('input[name=email]').fill(email);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
}

/** Opens the dashboard as somebody who has logged in before: with their session's cookie. */
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

/** Somebody new, on the page of their files, which has none yet. */
export async function arriveAt(
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

/** The list of what is being uploaded. */
export const uploadPanel = (page: Page): Locator => page.getByRole('region', { name: 'Uploads' });

/** From now on the page sends so many bytes a second at the most, so that there is something to see. */
export async function slowUploads(page: Page, uploadThroughput: number): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  const others = { offline: false, latency: 0, downloadThroughput: -1 };
  await devtools.send('Network.emulateNetworkConditions', { ...others, uploadThroughput });
}
