import { gzipSync } from 'node:zlib';
import type { Browser, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HAS_BROWSER, openAs, sharedBrowser, visit } from '../support/browser.ts';
import { uploadThrough } from '../support/lanes.ts';
import { borrowTestService, type TestAccount, type TestService } from '../support/service.ts';

/** The maximum sizes of the first load, compressed with gzip: of all scripts, and with the page and its style sheets. */
const [SCRIPT_BYTES_MAX, ALL_BYTES_MAX] = [225_000, 240_000];

/** What a connection of 400 kbit/s brings in two seconds. */
const READABLE_BYTES_MAX = 100_000;

/**
 * The maximum time of the main thread until the files are shown, as a multiple of the time in which the same thread lays out 20,000
 * paragraphs. An ordinary processor needs a seventh of a second for them.
 */
const BUSY_MAX = 3;

let service: TestService;
let browser: Browser;
let account: TestAccount;

describe.runIf(HAS_BROWSER)('the first load of the dashboard', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([borrowTestService(), sharedBrowser()]);
    account = await service.newAccount();
    await uploadThrough('inline', account, 'photo.jpg', 'content');
  });
  afterAll(async () => {
    await service.close();
  });

  test('is small, has immutable assets, and sends no requests to other hosts', async () => {
    const here = await visit(browser, { isFirst: true });
    const responses: Response[] = [];
    here.page.on('response', (response) => responses.push(response));
    await openAs(here, service, account.cookie);
    await here.page.getByRole('button', { name: 'Details of photo.jpg' }).waitFor();
    const bytesOf = async (kind: string) => {
      const parts = responses.filter((response) => response.request().resourceType() === kind);
      const bytes = await Promise.all(parts.map(async (part) => gzipSync(await part.body()).length));
      expect(bytes.length, kind).toBeGreaterThan(0);
      return bytes.reduce((sum, each) => sum + each, 0);
    };
    const [scripts = 0, styles = 0, html = 0] = await Promise.all(['script', 'stylesheet', 'document'].map(bytesOf));
    expect(scripts).toBeLessThan(SCRIPT_BYTES_MAX);
    expect(scripts + styles + html).toBeLessThan(ALL_BYTES_MAX);

    const cacheControl = (part: string) =>
      responses
        .filter((response) => response.url().includes(part))
        .map((response) => response.headers()['cache-control']);
    expect(new Set(cacheControl('/assets/'))).toEqual(new Set(['public, max-age=31536000, immutable']));
    expect(cacheControl('/dashboard/').at(0)).toBe('no-cache');
    const { root_url, cdn_url } = service.urls;
    // The thumbnail comes after the page.
    await expect.poll(() => here.hosts.size).toBe(2);
    expect([...here.hosts]).toEqual([root_url, cdn_url].map((url) => new URL(url).host));
    const policy = (await responses[0]?.headerValue('content-security-policy')) ?? '';
    expect(policy).toContain("script-src 'self'; style-src 'self';");
    expect(policy).not.toContain('unsafe');
    await here.leave();
  });

  test('has something to read before a script or a style sheet has arrived, and 400 kbit/s bring it in two seconds', async () => {
    const here = await visit(browser, { isFirst: true });
    const { page } = here;
    const { promise: isRead, resolve: onRead } = Promise.withResolvers<void>();
    await page.route('**/assets/**', async (route) => {
      await isRead;
      await route.fallback();
    });
    const answer = await page.goto(`${service.urls.root_url}/dashboard/login`, { waitUntil: 'commit' });
    const text = page.getByText('Upload a file, get a direct link.');
    await text.waitFor();
    const paints = () => page.evaluate(() => performance.getEntriesByName('first-contentful-paint').length);
    await expect.poll(paints).toBe(1);
    expect((await answer?.body())?.length).toBeLessThan(READABLE_BYTES_MAX);
    onRead();
    await page.getByRole('link', { name: 'Continue with Google' }).waitFor();
    await text.waitFor({ state: 'hidden' });
    await here.leave();
  });

  test('needs little time of the main thread', async () => {
    const here = await visit(browser, { isFirst: true });
    const devtools = await here.context.newCDPSession(here.page);
    // The time of the thread, not of the clock, so that other load on this machine does not count.
    await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
    await openAs(here, service, account.cookie);
    await here.page.getByRole('button', { name: 'Details of photo.jpg' }).waitFor();
    const busySeconds = async () => {
      const { metrics } = await devtools.send('Performance.getMetrics');
      return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
    };
    const load = await busySeconds();
    await here.page.evaluate(() => {
      const list = document.createElement('div');
      for (let line = 0; line < 20_000; line++) {
        list.append(Object.assign(document.createElement('p'), { textContent: `line ${line}` }));
      }
      document.body.append(list);
      list.getBoundingClientRect();
      list.remove();
    });
    const control = (await busySeconds()) - load;
    expect(load / control).toBeGreaterThan(0);
    expect(load / control).toBeLessThan(BUSY_MAX);
    await here.leave();
  });
});
