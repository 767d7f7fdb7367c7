import { readFile } from 'node:fs/promises';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HAS_BROWSER, openAs, sharedBrowser, type Visit, type VisitOptions, visit } from '../support/browser.ts';
import { uploadThrough } from '../support/lanes.ts';
import { borrowTestService, type TestAccount, type TestService } from '../support/service.ts';

/** One more file than a page shows; two of them with other names. */
const NAMES = [...Array.from({ length: 49 }, (_, index) => `picture-${index}.png`), 'Résumé.pdf', 'invoice 7.pdf'];

let service: TestService;
let browser: Browser;
let account: TestAccount;
let here: Visit;

describe.runIf(HAS_BROWSER)('the files page', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([borrowTestService(), sharedBrowser()]);
    account = await service.newAccount();
    // One after the other, because simultaneous uploads would conflict at the row of the account and be tried again.
    for (const name of [...NAMES.slice(-2), ...NAMES.slice(0, -2)]) await uploadThrough('inline', account, name, name);
  });
  afterAll(async () => {
    await service.close();
  });

  async function open(path?: string, options?: VisitOptions): Promise<Page> {
    here = await visit(browser, options);
    await openAs(here, service, account.cookie, path);
    return here.page;
  }

  const rows = (page: Page) => page.getByRole('row').filter({ has: page.getByRole('button', { name: /^Details of/ }) });
  const focused = (page: Page) => page.evaluate(() => document.activeElement?.id);
  const search = (page: Page) => page.getByRole('searchbox', { name: 'Search by name' });

  test('shows the files one page at a time, newest first', async () => {
    const page = await open();
    await expect.poll(() => rows(page).count()).toBe(50);
    await page.getByRole('status').getByText('51 files').waitFor();
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.waitForURL('**/dashboard/?page=2');
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.getByText('Résumé.pdf').waitFor();
    await page.reload();
    await page.getByText('Résumé.pdf').waitFor();
    await page.goBack();
    await expect.poll(() => rows(page).count()).toBe(50);
    await here.leave();
  });

  test('starts with a skip link for the keyboard, and moves the focus to the content of another page', async () => {
    const page = await open();
    await expect.poll(() => rows(page).count()).toBe(50);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the content');
    // This link leads to the last page, where it is disabled and loses the focus.
    await page.getByRole('link', { name: 'Next page' }).press('Enter');
    await page.waitForURL('**/dashboard/?page=2');
    await expect.poll(() => focused(page)).toBe('content');
    await here.leave();
  });

  test('searches while the user types, and has the search in its address', async () => {
    const page = await open();
    await search(page).pressSequentially('RÉSU');
    await page.waitForURL('**/dashboard/?search=R%C3%89SU');
    await expect.poll(() => rows(page).count()).toBe(1);
    await search(page).fill('nothing like it');
    await page.getByText('No file has “nothing like it” in its name.').waitFor();
    await page.getByRole('button', { name: 'Clear the search' }).click();
    await expect.poll(() => rows(page).count()).toBe(50);
    await page.goto(`${service.urls.root_url}/dashboard/?search=invoice`);
    await expect.poll(() => rows(page).count()).toBe(1);
    expect(await search(page).inputValue()).toBe('invoice');
    await here.leave();
  });

  test('searches for whatever is typed as text, also after a reload, back and forward', async () => {
    // An account of its own, so that the searches of other tests do not use up its rate limit.
    const searcher = await service.newAccount();
    await uploadThrough('inline', searcher, 'photo2.jpg', 'photo');
    await uploadThrough('inline', searcher, 'photo 2.jpg', 'photo');
    here = await visit(browser);
    const { page } = here;
    await openAs(here, service, searcher.cookie);
    await expect.poll(() => rows(page).count()).toBe(2);
    for (const text of [' 2', 'o ']) {
      await search(page).fill(text);
      await expect.poll(() => rows(page).count()).toBe(1);
      await expect.poll(() => new URL(page.url()).searchParams.get('search')).toBe(text);
      await page.reload();
      await expect.poll(() => rows(page).count()).toBe(1);
      expect(await search(page).inputValue()).toBe(text);
      expect(new URL(page.url()).searchParams.get('search')).toBe(text);
    }
    const texts = ['true', 'null', '"x"', '[1]', '{}', '%', '+', '1e3', '2024'];
    const finds = async (text: string) => {
      await page.getByText(`No file has “${text}” in its name.`).waitFor();
      expect(await search(page).inputValue()).toBe(text);
      expect(new URL(page.url()).searchParams.get('search')).toBe(text);
    };
    for (const text of texts) {
      await search(page).fill(text);
      await finds(text);
      await page.reload();
      await finds(text);
    }
    await page.goBack();
    await expect.poll(() => rows(page).count()).toBe(2);
    expect(await search(page).inputValue()).toBe('');
    await page.goForward();
    await finds('2024');
    for (const blank of ['', '%20', '+%C2%A0']) {
      await page.goto(`${service.urls.root_url}/dashboard/?search=${blank}`);
      await expect.poll(() => rows(page).count()).toBe(2);
      expect(await search(page).inputValue()).toBe('');
      expect(new URL(page.url()).search).toBe('');
    }
    await here.leave();
  });

  test('starts another search while the answer to the last one is pending', async () => {
    const page = await open('/dashboard/?search=nothing');
    await page.getByText('No file has “nothing” in its name.').waitFor();
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    await page.route('**/api/v1/files?page=1&limit=50', async (route) => {
      await answered;
      await route.fallback();
    });
    const asked = page.waitForRequest('**/api/v1/files?page=1&limit=50');
    await search(page).fill('');
    await asked;
    await page.waitForURL('**/dashboard/');
    await search(page).pressSequentially('invoice');
    answer();
    await expect.poll(() => rows(page).count()).toBe(1);
    await here.leave();
  });

  test("copies a file's link with one click, and shows its details", async () => {
    const page = await open('/dashboard/?search=invoice');
    await page.getByRole('button', { name: 'Copy the link of invoice 7.pdf' }).click();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(await (await fetch(link)).text()).toBe('invoice 7.pdf');
    await page.getByRole('status').getByText('Copied', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Details of invoice 7.pdf' }).click();
    const details = page.getByRole('dialog', { name: 'Details' });
    expect(await details.getByRole('textbox', { name: 'Direct link' }).inputValue()).toBe(link);
    await details.getByText('application/pdf').waitFor();
    await page.keyboard.press('Escape');
    await details.waitFor({ state: 'hidden' });
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error('refused'));
    });
    await page.getByRole('button', { name: 'Copy the link of invoice 7.pdf' }).click();
    await page.getByRole('alert').getByText('The browser does not let this page copy.').waitFor();
    await here.leave();
  });

  test('saves a file under its name, from its row and from its details', async () => {
    const page = await open('/dashboard/?search=invoice');
    const save = async (link: Locator) => {
      const [download] = await Promise.all([here.context.waitForEvent('download'), link.click()]);
      expect(download.suggestedFilename()).toBe('invoice 7.pdf');
      expect(await readFile(await download.path(), 'utf8')).toBe('invoice 7.pdf');
      // Only a headless browser keeps the empty tab of a download.
      for (const tab of here.context.pages().filter((one) => one !== page)) await tab.close();
    };
    await save(page.getByRole('link', { name: 'Download invoice 7.pdf' }));
    await page.getByRole('button', { name: 'Details of invoice 7.pdf' }).click();
    await save(page.getByRole('dialog').getByRole('link', { name: 'Download' }));
    await here.leave();
  });

  test('copies the links of all selected files, a line for each', async () => {
    const page = await open('/dashboard/?search=picture-1');
    await page.getByRole('checkbox', { name: 'Select picture-11.png' }).click();
    await page.getByRole('checkbox', { name: 'Select picture-13.png' }).click({ modifiers: ['Shift'] });
    await page.getByRole('button', { name: 'Copy links' }).click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    const contents = await Promise.all(copied.split('\n').map(async (link) => (await fetch(link)).text()));
    expect(contents).toEqual(['picture-13.png', 'picture-12.png', 'picture-11.png']);
    await here.leave();
  });

  test('shows small images themselves, and an icon for larger ones', async () => {
    const painter = await service.newAccount();
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    const uploads = [
      ['small.png', png],
      ['large.png', Buffer.concat([png, Buffer.alloc(1024 * 1024)])],
    ] as const;
    for (const [name, content] of uploads) await uploadThrough('inline', painter, name, content);
    here = await visit(browser);
    await openAs(here, service, painter.cookie);
    const { page } = here;
    await expect
      .poll(() =>
        rows(page)
          .locator('img')
          .evaluateAll((images) => images.map((image) => (image as HTMLImageElement).naturalWidth)),
      )
      .toEqual([1]);
    await here.leave();
  });

  test('deletes one file or several after a confirmation, by mouse or keyboard', async () => {
    const page = await open('/dashboard/?search=picture-4');
    await expect.poll(() => rows(page).count()).toBe(10);
    await page.getByRole('button', { name: 'Delete picture-48.png' }).focus();
    await page.keyboard.press('Enter');
    const question = page.getByRole('dialog');
    // The focus is first on the button that cancels.
    const harmless = question.getByRole('button', { name: 'Cancel' }).and(page.locator(':focus'));
    await question.getByText('This cannot be undone').waitFor();
    await harmless.waitFor();
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Delete picture-48.png' }).focus();
    await page.keyboard.press('Enter');
    await harmless.waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => rows(page).count()).toBe(9);
    // The deleted file's button is gone, so the focus is on the page's content.
    await expect.poll(() => focused(page)).toBe('content');

    await page.getByRole('checkbox', { name: 'Select picture-47.png' }).press('Space');
    await page.getByRole('button', { name: 'Clear the selection' }).press('Enter');
    await expect.poll(() => focused(page)).toBe('content');

    await page.getByRole('checkbox', { name: 'Select picture-47.png' }).click();
    await page.getByRole('checkbox', { name: 'Select picture-40.png' }).click({ modifiers: ['Shift'] });
    await page.getByRole('button', { name: 'Delete selected' }).click();
    await question.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect.poll(() => rows(page).count()).toBeLessThan(9);
    await question.waitFor({ state: 'hidden' });

    await page.getByRole('checkbox', { name: 'Select all on this page' }).click();
    await page.getByRole('button', { name: 'Delete selected' }).click();
    await question.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No file has “picture-4” in its name.').waitFor();
    const { body } = await account.byKey.request<{ total: number }>('GET', '/files');
    expect(body.total).toBe(NAMES.length - 10);
    await here.leave();
  });

  test('keeps showing the files when they cannot be refreshed, with a notice', async () => {
    const page = await open('/dashboard/?search=invoice', { isFirst: true });
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.clock.install();
    await page.route('**/api/v1/files?*', (route) => route.fulfill({ status: 503, json: {} }));
    await page.clock.runFor(15_000);
    await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
    const notice = page.getByRole('alert').filter({ hasText: 'What you see may be out of date.' });
    await expect
      .poll(async () => {
        await page.clock.runFor(1_000);
        return notice.isVisible();
      })
      .toBe(true);
    expect(await rows(page).count()).toBe(1);
    await page.unroute('**/api/v1/files?*');
    await notice.getByRole('button', { name: 'Try again' }).click();
    await notice.waitFor({ state: 'detached' });
    await here.leave();
  });

  test('deletes nothing without a network, not even later, says why it waits, and deletes nothing more after Stop', async () => {
    const page = await open('/dashboard/?search=invoice');
    const question = page.getByRole('dialog');
    const askToDelete = async () => {
      await page.getByRole('button', { name: 'Delete invoice 7.pdf' }).click();
      await question.getByRole('button', { name: 'Delete', exact: true }).click();
    };
    await page.getByRole('button', { name: 'Delete invoice 7.pdf' }).waitFor();
    await here.context.setOffline(true);
    await askToDelete();
    await page.getByRole('alert').filter({ hasText: '1 file was not deleted' }).waitFor();
    await question.waitFor({ state: 'hidden' });
    await here.context.setOffline(false);
    for (const [status, error, reason] of [
      [503, 'service_unavailable', 'The service is not available at the moment.'],
      [429, 'rate_limit_exceeded', 'Too many requests in a minute.'],
    ] as const) {
      await page.route('**/api/v1/files/*', (route) =>
        route.fulfill({ status, headers: { 'Retry-After': '30' }, json: { error } }),
      );
      await askToDelete();
      const waits = question.getByText(/^Waiting, \d+ sec\. /).filter({ hasText: reason });
      const first = await waits.textContent();
      await expect.poll(() => waits.textContent()).not.toBe(first);
      await question.getByRole('button', { name: 'Stop' }).click();
      await question.waitFor({ state: 'hidden' });
    }
    const { body } = await account.byKey.request<{ total: number }>('GET', '/files?search=invoice');
    expect(body.total).toBe(1);
    await here.leave();
  });

  test('removes a deleted file from the list even when the list cannot be refetched', async () => {
    const person = await service.newAccount();
    await uploadThrough('inline', person, 'gone.txt', 'gone');
    here = await visit(browser);
    const { page } = here;
    await openAs(here, service, person.cookie);
    await page.getByRole('button', { name: 'Delete gone.txt' }).click();
    await page.route('**/api/v1/files?*', (route) =>
      route.fulfill({ status: 429, headers: { 'Retry-After': '60' }, json: { error: 'rate_limit_exceeded' } }),
    );
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await page.getByText('gone.txt').count()).toBe(0);
    await here.leave();
  });

  test('shows files with any parameters in the address', async () => {
    const page = await open();
    const searches = ['{"toString":1}', '[]', '1e999', 'a&search=b'];
    const pages = ['-1', '1.5', 'abc', '99999999999'];
    for (const [index, wanted] of searches.entries()) {
      await page.goto(`${service.urls.root_url}/dashboard/?${encodeURI(`search=${wanted}&page=${pages[index]}`)}`);
      await search(page).waitFor();
      await page.getByText(/^\d+ files?$/).waitFor();
    }
    await here.leave();
  });

  test('goes to the last page when the requested page does not exist any more', async () => {
    const page = await open('/dashboard/?page=3&search=p');
    await page.waitForURL('**/dashboard/?search=p');
    await expect.poll(() => rows(page).count()).toBeGreaterThan(1);
    await here.leave();
  });
});
