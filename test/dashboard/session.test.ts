import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HAS_BROWSER, launchBrowser, logInThere, openAs, visit } from '../support/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let browser: Browser;

describe.runIf(HAS_BROWSER)('a session in the dashboard', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService(), launchBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  test('begins at the login, ends on the page that asked, and log out ends it on the server, too', async () => {
    const here = await visit(browser);
    const { page, context } = here;
    await page.goto(`${service.urls.root_url}/dashboard/?search=holiday`);
    await logInThere(page, 'ada@example.com');
    await page.getByRole('searchbox').waitFor();
    expect(page.url()).toBe(`${service.urls.root_url}/dashboard/?search=holiday`);
    const cookies = await context.cookies();
    await page.getByRole('button', { name: 'Account of ada@example.com' }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.getByRole('link', { name: 'Continue with Google' }).waitFor();
    await context.addCookies(cookies);
    await page.goto(`${service.urls.root_url}/dashboard/api-keys`);
    await page.getByRole('link', { name: 'Continue with Google' }).waitFor();
    await here.leave();
  });

  test('that has used up its requests says so, and begins when they are back', async () => {
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

  test('that is refused by Google says so in words', async () => {
    const here = await visit(browser);
    const { page } = here;
    await page.goto(`${service.urls.root_url}/dashboard/login`);
    await page.getByRole('link', { name: 'Continue with Google' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('alert').getByText('The login was cancelled at Google.').waitFor();
    await page.goto(`${service.urls.root_url}/dashboard/login?error=toString`);
    await page.getByRole('alert').getByText('The login did not work.').waitFor();
    await here.leave();
  });

  test('that ends anywhere leads to the login, and back to where one was', async () => {
    const account = await service.newAccount('grace@example.com');
    const here = await visit(browser);
    const { page, context } = here;
    await openAs(here, service, account.cookie, '/dashboard/api-keys');
    await page.getByRole('row').filter({ hasText: 'test' }).waitFor();
    await context.clearCookies();
    await page.getByRole('button', { name: 'Revoke test' }).click();
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await logInThere(page, 'grace@example.com');
    await page.getByRole('row').filter({ hasText: 'test' }).waitFor();
    expect(page.url()).toBe(`${service.urls.root_url}/dashboard/api-keys`);
    await here.leave();
  });

  test('never sends anybody to another site after the login', async () => {
    const here = await visit(browser);
    const { page } = here;
    await page.goto(`${service.urls.root_url}/dashboard/login?return=//evil.example/`);
    await logInThere(page, 'alan@example.com');
    await page.getByRole('heading', { name: 'Upload your first file' }).waitFor();
    expect([...here.hosts].sort()).toEqual(
      [service.urls.root_url, service.urls.identity_provider_url].map((url) => new URL(url).host).sort(),
    );
    await here.leave();
  });
});
