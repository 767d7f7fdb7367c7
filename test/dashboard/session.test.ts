import { setTimeout } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { logIn } from '../../local-aws/identity-provider/log-in.ts';
import {
  fillInProviderForm,
  HAS_BROWSER,
  logInFromPage,
  openAs,
  sharedBrowser,
  slowUploads,
  uploadableFile,
  uploadPanel,
  type Visit,
  visit,
} from '../support/browser.ts';
import { client } from '../support/client.ts';
import { borrowTestService, type TestAccount, type TestService } from '../support/service.ts';
import { withFault } from '../support/with-fault.ts';

let service: TestService;
let browser: Browser;
/** The path of a file of 5,000,000 bytes. */
let film: string;

describe.runIf(HAS_BROWSER)('a session in the dashboard', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([borrowTestService(), sharedBrowser()]);
    film = await uploadableFile('film.bin', 5_000_000);
  });
  afterAll(async () => {
    await service.close();
  });

  test('starts with a login that returns to the requested page, and ends on the server with a logout', async () => {
    const here = await visit(browser);
    const { page, context } = here;
    await page.goto(`${service.urls.root_url}/dashboard/?search=2024`);
    await logInFromPage(page, 'ada@example.org');
    await page.getByRole('searchbox').waitFor();
    expect(page.url()).toBe(`${service.urls.root_url}/dashboard/?search=2024`);
    const cookies = await context.cookies();
    await page.getByRole('button', { name: 'Account of ada@example.org' }).click();
    await page.getByRole('menuitem', { name: 'Log out', exact: true }).click();
    await page.getByRole('link', { name: 'Continue with Google' }).waitFor();
    await context.addCookies(cookies);
    await page.goto(`${service.urls.root_url}/dashboard/api-keys`);
    await page.getByRole('link', { name: 'Continue with Google' }).waitFor();
    await here.leave();
  });

  test('waits with a message while the rate limit is used up, and then loads the page', async () => {
    const { cookie } = await service.newAccount();
    const here = await visit(browser);
    const { page } = here;
    let asked = 0;
    await page.route(/\/(auth\/me|files\?.*)$/, (route) => {
      if (asked++ > 1) return route.fallback();
      return route.fulfill({ status: 429, headers: { 'Retry-After': '2' }, json: { error: 'rate_limit_exceeded' } });
    });
    await openAs(here, service, cookie);
    await page.getByText('Too many requests in a minute.').waitFor();
    await page.getByRole('heading', { name: 'Files' }).waitFor();
    await here.leave();
  });

  test('does not start when the login fails, and the login page explains why', async () => {
    const here = await visit(browser);
    const { page } = here;
    await page.goto(`${service.urls.root_url}/dashboard/login`);
    await page.getByRole('link', { name: 'Continue with Google' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('alert').getByText('The login was cancelled at Google.').waitFor();
    await page.goto(`${service.urls.root_url}/dashboard/login?error=toString`);
    await page.getByRole('alert').getByText('The login did not work.').waitFor();
    await page.goto(`${service.urls.root_url}/dashboard/login?error=rate_limit_exceeded`);
    await page.getByRole('alert').getByText('Too many logins were started from your network.').waitFor();
    await here.leave();
  });

  test.for([
    ['', '/dashboard/'],
    ['?return=/api-keys', '/dashboard/api-keys'],
    ['?error=expired', '/dashboard/'],
    ['?error=login_failed', '/dashboard/'],
    ['?error=access_denied', '/dashboard/'],
  ])('leads from the login page "%s" to %s while it lasts', async ([query, path]) => {
    const { cookie } = await service.newAccount();
    const here = await visit(browser);
    await openAs(here, service, cookie, `/dashboard/login${query}`);
    await here.page.getByRole('button', { name: /^Account of/ }).waitFor();
    expect(here.page.url()).toBe(`${service.urls.root_url}${path}`);
    await here.leave();
  });

  test('goes on when the back button leads to the login page, or the callback is opened again', async () => {
    const here = await visit(browser);
    const { page } = here;
    let callback = '';
    page.on('request', (request) => {
      if (request.url().includes('/callback?')) callback = request.url();
    });
    const inDashboard = async () => {
      await page.getByRole('button', { name: 'Account of hedy@example.org' }).waitFor();
      expect(page.url()).toBe(`${service.urls.root_url}/dashboard/`);
    };
    await page.goto(`${service.urls.root_url}/dashboard/login`);
    await logInFromPage(page, 'hedy@example.org');
    await inDashboard();
    await page.goBack();
    expect(new URL(page.url()).origin).toBe(service.urls.identity_provider_url);
    await page.goBack();
    await inDashboard();
    await page.goto(callback);
    await inDashboard();
    await page.reload();
    await inDashboard();
    await here.leave();
  });

  test('starts with a login that begins at 127.0.0.1, and ends at the configured host', async () => {
    const here = await visit(browser);
    const { page } = here;
    await page.goto(`${service.urls.root_url.replace('localhost', '127.0.0.1')}/dashboard/`);
    await page.getByRole('link', { name: 'Continue with Google' }).click();
    // The move to the configured host is one to another site, so the person begins anew there.
    await page.waitForURL(`${service.urls.root_url}/dashboard/login`);
    await logInFromPage(page, 'ada@example.org');
    await page.getByRole('button', { name: 'Account of ada@example.org' }).waitFor();
    expect(page.url()).toBe(`${service.urls.root_url}/dashboard/`);
    await here.leave();
  });

  test.for([
    ['not_allowed', 'select_account'],
    ['email_not_verified', 'select_account'],
    ['access_denied', 'select_account'],
    ['unavailable', null],
  ])('the login after the error %s has the prompt %s', async ([error, prompt]) => {
    const here = await visit(browser);
    const { page } = here;
    await page.goto(`${service.urls.root_url}/dashboard/login?error=${error}`);
    await page.getByRole('alert').waitFor();
    const asked = page.waitForRequest((request) => request.url().startsWith(service.urls.identity_provider_url));
    await logInFromPage(page, 'other@example.org');
    expect(new URL((await asked).url()).searchParams.get('prompt')).toBe(prompt);
    await page.getByRole('button', { name: 'Account of other@example.org' }).waitFor();
    await here.leave();
  });

  test('stays while another person is refused in the same browser, which the login page explains', async () => {
    const { cookie } = await service.newAccount();
    const here = await visit(browser);
    const { page } = here;
    await openAs(here, service, cookie, '/api/v1/auth/google');
    await fillInProviderForm(page, 'unverified@example.org');
    await page.getByRole('alert').getByText('has not verified').waitFor();
    await page.goto(`${service.urls.root_url}/dashboard/`);
    await page.getByRole('button', { name: /^Account of/ }).waitFor();
    await here.leave();
  });

  test('does not start while a dependency is down, which the page explains, and starts when the dependency is back', async () => {
    const here = await visit(browser);
    const { page } = here;
    await page.goto(`${service.urls.root_url}/dashboard/login`);
    await withFault(service, { match: { service: 'dynamodb' }, effect: 'error-before' }, async () => {
      await page.getByRole('link', { name: 'Continue with Google' }).click();
      await page.getByRole('alert').getByText('Logging in does not work at the moment.').waitFor();
    });
    await logInFromPage(page, 'margaret@example.org');
    await page.getByRole('button', { name: 'Account of margaret@example.org' }).waitFor();
    await here.leave();
  });

  test('leads to the login when it has ended, and back to the same page afterwards', async () => {
    const account = await service.newAccount('grace@example.org');
    const here = await visit(browser);
    const { page, context } = here;
    await openAs(here, service, account.cookie, '/dashboard/api-keys');
    await page.getByRole('row').filter({ hasText: 'test' }).waitFor();
    await context.clearCookies();
    await page.getByRole('button', { name: 'Revoke test' }).click();
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await logInFromPage(page, 'grace@example.org');
    await page.getByRole('row').filter({ hasText: 'test' }).waitFor();
    expect(page.url()).toBe(`${service.urls.root_url}/dashboard/api-keys`);
    await here.leave();
  });

  /** Opens a page with two uploads that were rejected because the session has ended. */
  async function loggedOutWhileUploading(email: string) {
    const account = await service.newAccount(email);
    const here = await visit(browser);
    await openAs(here, service, account.cookie, '/dashboard/?search=film');
    await here.page.getByRole('searchbox').waitFor();
    await here.context.clearCookies();
    await here.page.getByTestId('files').setInputFiles([await uploadableFile('film.txt', 5), film]);
    await here.page.getByRole('status').getByText('2 uploads are waiting in this tab.').waitFor();
    return { account, here };
  }

  async function logInInNewTab({ page, context }: Visit, email: string): Promise<void> {
    const opened = context.waitForEvent('page');
    await page.getByRole('link', { name: 'Continue with Google' }).click();
    const tab = await opened;
    await fillInProviderForm(tab, email);
    await tab.getByRole('button', { name: `Account of ${email}` }).waitFor();
  }

  test('uploads wait when the session ends, until the user logs in in another tab', async () => {
    const { account, here } = await loggedOutWhileUploading('ada@films.example');
    await logInInNewTab(here, 'ada@films.example');
    await uploadPanel(here.page).getByText('2 files uploaded').waitFor();
    expect(here.page.url()).toBe(`${service.urls.root_url}/dashboard/?search=film`);
    const { body } = await account.byKey.request<{ items: { name: string }[] }>('GET', '/files');
    expect(body.items.map(({ name }) => name).sort()).toEqual(['film.bin', 'film.txt']);
    await here.leave();
  });

  test.for([
    ['waits for its own account', 'grace@films.example', 2],
    ['is discarded when the person wants so', 'other@films.example', 0],
  ] as const)(
    'an upload whose account is logged out says so after a login as another account, and %s',
    async ([, email, stored]) => {
      const { here } = await loggedOutWhileUploading('grace@films.example');
      const other = await service.newAccount('other@films.example');
      await logInInNewTab(here, 'other@films.example');
      const told = here.page.getByRole('main').getByRole('status');
      await told.getByText('They belong to grace@films.example').waitFor();
      const owners = told.getByText('grace@films.example', { exact: true });
      for (const owner of await owners.all()) expect(await owner.getAttribute('translate')).toBe('no');
      expect(await owners.count()).toBe(2);
      await here.page.setViewportSize({ width: 320, height: 640 });
      expect(await told.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
      if (stored > 0) await logInInNewTab(here, email);
      else await here.page.getByRole('button', { name: 'Discard them' }).click();
      await here.page.getByRole('button', { name: `Account of ${email}` }).waitFor();
      if (stored > 0) await uploadPanel(here.page).getByText('2 files uploaded').waitFor();
      expect(await uploadPanel(here.page).count()).toBe(stored > 0 ? 1 : 0);
      expect((await other.byKey.request('GET', '/files')).body).toMatchObject({ total: 0 });
      await here.leave();
    },
  );

  test('a login as another account in another tab cancels the running uploads, and says so', async () => {
    const account = await service.newAccount('radia@films.example');
    const here = await visit(browser);
    await openAs(here, service, account.cookie);
    await here.page.getByRole('button', { name: 'Account of radia@films.example' }).waitFor();
    await slowUploads(here.page, 100_000);
    await here.page.getByTestId('files').setInputFiles(film);
    await uploadPanel(here.page).getByText('Uploading 0 of 1').waitFor();
    const told = here.page.waitForEvent('dialog');
    const tab = await here.context.newPage();
    await tab.goto(`${service.urls.base_url}/auth/google`);
    await fillInProviderForm(tab, 'other@films.example');
    const dialog = await told;
    expect(dialog.message()).toContain('The uploads of radia@films.example in this tab were cancelled.');
    await dialog.accept();
    await here.page.getByRole('button', { name: 'Account of other@films.example' }).waitFor();
    await here.leave();
  });

  test('is not ended during uploads without a confirmation', async () => {
    const account = await service.newAccount('linus@films.example');
    const here = await visit(browser);
    const { page } = here;
    await openAs(here, service, account.cookie);
    await slowUploads(page, 100_000);
    await page.getByTestId('files').setInputFiles(film);
    const logOut = async () => {
      await page.getByRole('button', { name: 'Account of linus@films.example' }).click();
      await page.getByRole('menuitem', { name: 'Log out', exact: true }).click();
    };
    const question = page.getByRole('dialog', { name: 'Uploads are running' });
    await logOut();
    await question.getByRole('button', { name: 'Cancel', exact: true }).click();
    await question.waitFor({ state: 'hidden' });
    await uploadPanel(page).getByText('Uploading 0 of 1').waitFor();
    const used = async ({ bySession }: TestAccount) =>
      (await bySession.request('GET', '/auth/me')).body.storage_used_bytes;
    await expect.poll(() => used(account)).toBe(5_000_000);
    await page.route('**/api/v1/files/*', async (route) => {
      await setTimeout(500);
      await route.fallback();
    });
    await logOut();
    await question.getByRole('button', { name: 'Cancel them and log out' }).click();
    await page.getByRole('link', { name: 'Continue with Google' }).waitFor();
    expect(await used(await service.newAccount('linus@films.example'))).toBe(0);
    expect(await page.getByText('waiting in this tab').count()).toBe(0);
    await here.leave();
  });

  test('ends in all tabs and other browsers with a log out everywhere', async () => {
    const account = await service.newAccount('frances@example.org');
    const { cookie } = await service.newAccount('frances@example.org');
    const [here, elsewhere] = [await visit(browser), await visit(browser)];
    const toLogIn = (page: Page) => page.getByRole('link', { name: 'Continue with Google' });
    const continueMessage = (page: Page) => page.getByText('Log in to continue where you were.');
    await openAs(here, service, account.cookie);
    await openAs(elsewhere, service, cookie);
    const tab = await here.context.newPage();
    await tab.goto(`${service.urls.root_url}/dashboard/docs`);
    for (const page of [here.page, elsewhere.page, tab]) await page.getByRole('button', { name: /^Account/ }).waitFor();
    await here.page.getByRole('button', { name: /^Account/ }).click();
    await here.page.getByRole('menuitem', { name: 'Log out everywhere' }).click();
    const question = here.page.getByRole('dialog', { name: 'Log out everywhere?' });
    await question.getByRole('button', { name: 'Log out everywhere' }).click();
    await toLogIn(here.page).waitFor();
    await continueMessage(tab).waitFor();
    await elsewhere.page.getByRole('link', { name: 'API keys', exact: true }).click();
    await continueMessage(elsewhere.page).waitFor();
    await Promise.all([here.leave(), elsewhere.leave()]);
  });

  test('is in the list with its device, and is ended from another browser or from itself', async () => {
    const { cookie, email, bySession } = await service.newAccount();
    const here = await visit(browser);
    const { page } = here;
    const userAgent = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0';
    const { cookies: other } = await logIn({ startUrl: `${service.urls.base_url}/auth/google`, email, userAgent });
    await openAs(here, service, cookie);
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByRole('menuitem', { name: 'Sessions' }).click();
    const row = (device: string) => page.getByRole('row').filter({ hasText: device });
    await row('Unknown device').filter({ hasText: 'This browser' }).filter({ hasText: 'now' }).waitFor();
    const button = row('Firefox on Windows').getByRole('button', { name: 'End the session of Firefox on Windows' });
    const question = page.getByRole('dialog', { name: 'End the session of Firefox on Windows?' });

    const elsewhere = await visit(browser);
    await openAs(elsewhere, service, other, '/dashboard/sessions');
    await elsewhere.page.getByRole('row').filter({ hasText: 'This browser' }).waitFor();
    await button.click();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'hidden' });
    expect((await bySession.request<{ items: unknown[] }>('GET', '/auth/sessions')).body.items).toHaveLength(2);
    await button.click();
    await question.getByRole('button', { name: 'End session' }).click();
    await page.getByText('You are logged in nowhere else.').waitFor();
    await elsewhere.page.getByRole('link', { name: 'API keys', exact: true }).click();
    await elsewhere.page.getByText('Log in to continue where you were.').waitFor();

    const tab = await here.context.newPage();
    await tab.goto(`${service.urls.root_url}/dashboard/docs`);
    await tab.getByRole('button', { name: /^Account of/ }).waitFor();
    await page.getByRole('button', { name: 'Log out of this browser' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('link', { name: 'Continue with Google' }).waitFor();
    await tab.getByText('Log in to continue where you were.').waitFor();
    expect((await bySession.request('GET', '/auth/me')).status).toBe(401);
    await Promise.all([here.leave(), elsewhere.leave()]);
  });

  test('that has ended meanwhile leaves the list without an error, and a list that cannot be loaded says so', async () => {
    const { cookie, email } = await service.newAccount();
    const { cookies: other } = await logIn({ startUrl: `${service.urls.base_url}/auth/google`, email });
    const here = await visit(browser);
    const { page } = here;
    await openAs(here, service, cookie, '/dashboard/sessions');
    await page.getByRole('button', { name: 'End the session of Unknown device' }).click();
    await client(service.urls.base_url, { cookie: other }).request('POST', '/auth/logout');
    await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click();
    await page.getByText('You are logged in nowhere else.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.route('**/api/v1/auth/sessions', (route) =>
      route.fulfill({ status: 400, json: { error: 'invalid_request' } }),
    );
    await page.reload();
    await page.getByRole('alert').getByText('The service did not understand this request.').waitFor();
    await page.unroute('**/api/v1/auth/sessions');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('You are logged in nowhere else.').waitFor();
    await here.leave();
  });

  test('a login as another account in one tab applies in every tab', async () => {
    const account = await service.newAccount('barbara@example.org');
    const here = await visit(browser);
    await openAs(here, service, account.cookie);
    await here.page.getByRole('button', { name: 'Account of barbara@example.org' }).waitFor();
    const other = await here.context.newPage();
    await other.goto(`${service.urls.base_url}/auth/google`);
    await fillInProviderForm(other, 'edsger@example.org');
    await here.page.getByRole('button', { name: 'Account of edsger@example.org' }).waitFor();
    await here.leave();
  });

  test.for(['//evil.example/', '/%09/evil.example/', 'https://evil.example/'])(
    'never redirects to another site after the login: %s',
    async (target) => {
      const here = await visit(browser);
      const { page } = here;
      await page.goto(`${service.urls.root_url}/dashboard/login?return=${target}`);
      await logInFromPage(page, 'alan@example.org');
      await page.getByRole('heading', { name: 'Upload your first file' }).waitFor();
      expect([...here.hosts].sort()).toEqual(
        [service.urls.root_url, service.urls.identity_provider_url].map((url) => new URL(url).host).sort(),
      );
      await here.leave();
    },
  );
});
