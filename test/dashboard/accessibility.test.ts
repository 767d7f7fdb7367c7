import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HAS_BROWSER, openAs, sharedBrowser, visit } from '../support/browser.ts';
import { uploadThrough } from '../support/lanes.ts';
import { borrowTestService, type TestAccount, type TestService } from '../support/service.ts';
import { IS_THOROUGH } from '../support/thorough.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A state of a page, such as an open dialog: its name, how to bring it about and wait for it, and how to leave it. */
type PageState = readonly [
  name: string,
  open: (page: Page) => Promise<unknown>,
  close?: (page: Page) => Promise<unknown>,
];

async function closeDialog(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
}

const accountMenu = (page: Page) => page.getByRole('button', { name: /^Account of/ }).click();

/** Every page by its path, with its dialogs. What one state leaves on the page is still there in the next states. */
const PAGES: readonly (readonly [path: string, states: readonly PageState[]])[] = [
  [
    '',
    [
      ['the files', (page) => page.getByRole('button', { name: 'Details of photo.jpg' }).waitFor()],
      [
        'a selection',
        async (page) => {
          await page.getByRole('checkbox', { name: 'Select photo.jpg' }).click();
          await page.getByText('1 selected').waitFor();
        },
        (page) => page.getByRole('button', { name: 'Clear the selection' }).click(),
      ],
      [
        'the details of a file',
        async (page) => {
          await page.getByRole('button', { name: 'Details of photo.jpg' }).click();
          await page.getByRole('dialog', { name: 'Details' }).waitFor();
        },
        closeDialog,
      ],
      [
        'the dialog before a deletion',
        async (page) => {
          await page.getByRole('button', { name: 'Delete photo.jpg' }).click();
          await page.getByRole('dialog').waitFor();
        },
        closeDialog,
      ],
      [
        'the menu of the account',
        async (page) => {
          await accountMenu(page);
          await page.getByRole('menuitem', { name: 'Log out', exact: true }).waitFor();
        },
        async (page) => {
          await page.keyboard.press('Escape');
          await page.getByRole('menu').waitFor({ state: 'hidden' });
        },
      ],
      [
        'the dialog before a log out everywhere',
        async (page) => {
          await accountMenu(page);
          await page.getByRole('menuitem', { name: 'Log out everywhere' }).click();
          await page.getByRole('dialog', { name: 'Log out everywhere?' }).waitFor();
        },
        closeDialog,
      ],
      [
        'an error',
        async (page) => {
          await page.evaluate(() => {
            navigator.clipboard.writeText = () => Promise.reject(new Error('refused'));
          });
          await page.getByRole('button', { name: 'Copy the link of photo.jpg' }).click();
          await page.getByRole('alert').waitFor();
          await page.mouse.move(0, 0);
          await page.getByRole('tooltip').waitFor({ state: 'hidden' });
        },
      ],
      [
        'the list of uploads',
        async (page) => {
          await page.route('**/api/v1/files', (route) => {
            if (route.request().method() !== 'POST') return route.fallback();
            return route.fulfill({ status: 403, json: { error: 'storage_limit_exceeded' } });
          });
          await page
            .getByTestId('files')
            .setInputFiles({ name: 'no.txt', mimeType: 'text/plain', buffer: Buffer.from('no') });
          await page.getByText('You have the maximum number of files.').waitFor();
          await page.unroute('**/api/v1/files');
        },
      ],
    ],
  ],
  [
    '?search=nothing',
    [['a search that finds nothing', (page) => page.getByText('No file has “nothing” in its name.').waitFor()]],
  ],
  [
    'api-keys',
    [
      ['the API keys', (page) => page.getByRole('button', { name: 'Revoke test' }).waitFor()],
      [
        'the dialog before a revocation',
        async (page) => {
          await page.getByRole('button', { name: 'Revoke test' }).click();
          await page.getByRole('dialog').waitFor();
        },
        closeDialog,
      ],
      [
        'a new API key',
        async (page) => {
          await page.getByRole('button', { name: 'Create API key' }).click();
          await page.getByRole('textbox', { name: 'Name' }).fill('axe');
          await page.keyboard.press('Enter');
          await page.getByRole('dialog', { name: 'Your new API key' }).waitFor();
        },
      ],
    ],
  ],
  [
    'docs',
    [
      ['the API reference', (page) => page.getByText('/api/v1/auth/me').waitFor()],
      [
        'an operation that is tried out',
        async (page) => {
          const operation = page.locator('#operations-Files-uploadFile');
          await operation.getByRole('button', { name: /^POST/ }).click();
          await operation.getByRole('button', { name: 'Try it out' }).click();
          await operation.getByRole('button', { name: 'Execute' }).waitFor();
        },
      ],
    ],
  ],
  ['nowhere', [['a page that does not exist', (page) => page.getByText('There is no such page.').waitFor()]]],
  [
    'login',
    [
      ['the login', (page) => page.getByRole('link', { name: 'Continue with Google' }).waitFor()],
      [
        'the login page of the local identity provider',
        async (page) => {
          await page.getByRole('link', { name: 'Continue with Google' }).click();
          await page.getByRole('textbox', { name: 'E-mail' }).waitFor();
          await page.evaluate(AXE);
        },
      ],
    ],
  ],
  ['login?error=expired', [['a login that failed', (page) => page.getByRole('alert').waitFor()]]],
];

type Look = readonly [colorScheme: 'light' | 'dark', width: number, rules?: readonly string[]];

/** Of the rules of axe, only the one on contrast depends on colours. So the other rules are checked in one colour scheme at each width. */
const LOOKS: readonly Look[] = [
  ['light', 1280],
  ['dark', 360],
];

/** The contrast hardly depends on the width, so `npm test` checks it once in each colour scheme. */
const MORE_LOOKS: readonly Look[] = [
  ['light', 360, ['color-contrast']],
  ['dark', 1280, ['color-contrast']],
];

/** No page may be wider than these screens. */
const WIDTHS = IS_THOROUGH ? [360, 768, 1280, 2560] : [360, 768];

let service: TestService;
let browser: Browser;
let account: TestAccount;

describe.runIf(HAS_BROWSER)('the dashboard', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([borrowTestService(), sharedBrowser()]);
    account = await service.newAccount();
    for (const name of ['photo.jpg', 'a-name-of-one-very-long-word-'.repeat(8)]) {
      await uploadThrough('inline', account, name, 'content');
    }
  });
  afterAll(async () => {
    await service.close();
  });

  /** Waits for animations to end: while something fades in, its contrast is too low. */
  async function settled(page: Page): Promise<void> {
    await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState !== 'running'));
  }

  async function violations(page: Page, rules: readonly string[] | undefined): Promise<unknown[]> {
    return page.evaluate(async (runOnly) => {
      const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<AxeResults> } };
      // Only violations are collected. To collect the rules that hold as well, and to read them from the page, doubled the time.
      const results = await axe.run({ resultTypes: ['violations'], ...(runOnly && { runOnly }) });
      return results.violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => ({ id, html, failureSummary })),
      );
    }, rules);
  }

  async function expectNoFindings(page: Page, state: string): Promise<void> {
    for (const [colorScheme, width, rules] of IS_THOROUGH ? [...LOOKS, ...MORE_LOOKS] : LOOKS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      await settled(page);
      expect(await violations(page, rules), `${state}, ${colorScheme} at ${width} pixels`).toEqual([]);
    }
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      // Floating elements are positioned a moment after the window was resized.
      const tooWide = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      await expect.poll(tooWide, { message: `${state} at ${width} pixels` }).toBeLessThanOrEqual(0);
    }
  }

  test.for(PAGES)(
    'the page /%s and its dialogs have no findings of axe in light and dark, and are not wider than the screen',
    async ([path, states]) => {
      const here = await visit(browser, { colorScheme: 'light', reducedMotion: 'reduce' });
      const { page } = here;
      // A person who is logged in would be led from the login page to the files.
      if (path === 'login') await page.goto(`${service.urls.root_url}/dashboard/${path}`);
      else await openAs(here, service, account.cookie, `/dashboard/${path}`);
      await page.evaluate(AXE);
      for (const [name, open, close] of states) {
        await page.emulateMedia({ colorScheme: 'light' });
        await page.setViewportSize({ width: 1280, height: 900 });
        await open(page);
        await expectNoFindings(page, name);
        await close?.(page);
      }
      await here.leave();
    },
  );

  test('does not shift on a phone when files are loaded or one is selected', async () => {
    const here = await visit(browser, { viewport: { width: 360, height: 800 } });
    const { page } = here;
    const heads = async () => (await page.getByRole('checkbox', { name: 'Select all on this page' }).boundingBox())?.y;
    const { promise: isMeasured, resolve: onMeasured } = Promise.withResolvers<void>();
    await page.route('**/api/v1/files?*', async (route) => {
      await isMeasured;
      await route.fallback();
    });
    await openAs(here, service, account.cookie);
    const before = await heads();
    onMeasured();
    await page.getByRole('checkbox', { name: 'Select photo.jpg' }).click();
    await page.getByText('1 selected').waitFor();
    expect(await heads()).toBe(before);
    await here.leave();
  });

  test('can be switched to light, dark or the colour scheme of the system, and keeps the choice', async () => {
    const here = await visit(browser, { colorScheme: 'light' });
    const { page } = here;
    const scheme = () => page.evaluate(() => document.documentElement.dataset.mantineColorScheme);
    await openAs(here, service, account.cookie);
    await page.getByRole('button', { name: 'Colour scheme' }).click();
    await page.getByRole('menuitem', { name: 'Dark' }).click();
    expect(await scheme()).toBe('dark');
    await page.reload();
    await expect.poll(scheme).toBe('dark');
    await page.getByRole('button', { name: 'Colour scheme' }).click();
    await page.getByRole('menuitem', { name: 'Same as the system' }).click();
    expect(await scheme()).toBe('light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(scheme).toBe('dark');
    await here.leave();
  });
});
