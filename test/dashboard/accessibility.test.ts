import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HAS_BROWSER, logInFromPage, openAs, sharedBrowser, uploadPanel, visit } from '../support/browser.ts';
import { generateFiles } from '../support/generated-files.ts';
import { uploadThrough } from '../support/lanes.ts';
import { operatorOf } from '../support/operator.ts';
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

/**
 * The controls that something else covers when they are scrolled into view. A dialog, menu or message covers the page on purpose, until it is
 * closed.
 */
function coveredControls(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const root = document.querySelector('[role=dialog], [role=menu], .mantine-Notification-root') ?? document.body;
    // The link that skips to the content is outside of the window until it has the focus.
    return [...root.querySelectorAll<HTMLElement>(':is(a:not([href="#content"]), button, input, select, textarea)')]
      .filter((control) => control.getClientRects().length > 0)
      .filter((control) => {
        control.scrollIntoView({ block: 'nearest' });
        const { x, y, width, height } = control.getBoundingClientRect();
        const top = document.elementFromPoint(x + width / 2, y + height / 2);
        return !(top && (control.contains(top) || top.contains(control) || control.parentElement?.contains(top)));
      })
      .map(({ outerHTML }) => outerHTML);
  });
}

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
        (page) => page.getByRole('alert').getByRole('button', { name: 'Close' }).click(),
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
    'sessions',
    [
      ['the sessions', (page) => page.getByText('You are logged in nowhere else.').waitFor()],
      [
        'the dialog before the end of a session',
        async (page) => {
          await page.getByRole('button', { name: 'Log out of this browser' }).click();
          await page.getByRole('dialog').waitFor();
        },
        closeDialog,
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

/** No page may be wider than these screens. On the first of them, as narrow as a page enlarged to 400 %, nothing may cover a control. */
const WIDTHS = IS_THOROUGH ? [320, 360, 768, 1280, 2560] : [320, 768];

let service: TestService;
let browser: Browser;
let account: TestAccount;
/** An account whose files fill several pages. */
let manyFiles: TestAccount;

describe.runIf(HAS_BROWSER)('the dashboard', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([borrowTestService(), sharedBrowser()]);
    account = await service.newAccount();
    for (const name of ['photo.jpg', 'a-name-of-one-very-long-word-'.repeat(8)]) {
      await uploadThrough('inline', account, name, 'content');
    }
    manyFiles = await service.newAccount();
    const operator = await operatorOf(service);
    await generateFiles(operator.dynamoDb, service.tables, { accountId: manyFiles.id, count: 102 });
    operator.close();
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
      if (width === WIDTHS[0]) expect(await coveredControls(page), state).toEqual([]);
    }
  }

  test.for(PAGES)(
    'the page /%s and its dialogs have no findings of axe in light and dark, and are not wider than the screen',
    async ([path, states]) => {
      const here = await visit(browser, { colorScheme: 'light', reducedMotion: 'reduce' });
      const { page } = here;
      // A person who is logged in would be led from the login page to the files.
      if (path.startsWith('login')) await page.goto(`${service.urls.root_url}/dashboard/${path}`);
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

  /** Opens the list of uploads, with an upload that failed. */
  async function openUploads(page: Page): Promise<void> {
    await page.route('**/api/v1/files', (route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      return route.fulfill({ status: 403, json: { error: 'storage_limit_exceeded' } });
    });
    await page.getByTestId('files').setInputFiles({ name: 'p.txt', mimeType: 'text/plain', buffer: Buffer.from('p') });
    await uploadPanel(page).getByText('1 failed').waitFor();
    const more = uploadPanel(page).getByRole('button', { name: 'Show more' });
    if (await more.isVisible()) await more.click();
  }

  test.for([
    [320, 256],
    [320, 640],
    [1280, 720],
  ])(
    'nothing covers a control that the window of %i × %i pixels can show, even beside the open list of uploads and on a page of 50 files',
    async ([width = 0, height = 0]) => {
      const here = await visit(browser, { viewport: { width, height }, reducedMotion: 'reduce' });
      const { page } = here;
      await openAs(here, service, manyFiles.cookie);
      await page.getByRole('link', { name: 'Next page' }).waitFor();
      await page.getByRole('checkbox', { name: 'Select photo-101.jpeg' }).click();
      await openUploads(page);
      expect(await coveredControls(page)).toEqual([]);
      const overlaps = await page.getByRole('row').evaluateAll((rows) =>
        rows.flatMap((row) => {
          const buttons = [...row.querySelectorAll('td:last-child :is(a, button)')].map((one) =>
            one.getBoundingClientRect(),
          );
          const texts = [...row.querySelectorAll('td:nth-child(2) button > span > span')];
          return texts.flatMap((text) => {
            const { right, bottom, top } = text.getBoundingClientRect();
            const isUnder = (one: DOMRect) => one.width > 0 && one.left < right && one.top < bottom && one.bottom > top;
            return buttons.some(isUnder) ? [text.textContent] : [];
          });
        }),
      );
      expect(overlaps).toEqual([]);
      await here.leave();
    },
  );

  test('shows progress, the current page, a selection and the edge of a dialog in forced colours', async () => {
    const here = await visit(browser, { forcedColors: 'active' });
    const { page } = here;
    await openAs(here, service, account.cookie);
    await page.getByRole('checkbox', { name: 'Select photo.jpg' }).click();
    await openUploads(page);
    const style = (css: string, property: 'outlineStyle' | 'borderTopStyle' | 'backgroundColor') =>
      page
        .locator(css)
        .first()
        .evaluate((element, name) => getComputedStyle(element)[name], property);
    expect(await style('nav [aria-current=page]', 'outlineStyle')).toBe('solid');
    expect(await style('tr[data-selected]', 'outlineStyle')).toBe('solid');
    // How full a bar is shows only if it has another colour than its track.
    const track = await style('.mantine-Progress-root:has([role=progressbar])', 'backgroundColor');
    expect(await style('.mantine-Progress-root [role=progressbar]', 'backgroundColor')).not.toBe(track);
    expect(await style('.mantine-Progress-root', 'borderTopStyle')).toBe('solid');
    await page.getByRole('button', { name: 'Delete photo.jpg' }).click();
    expect(await style('[role=dialog]', 'borderTopStyle')).toBe('solid');
    await here.leave();
  });

  test.for(['light', 'dark'] as const)(
    'prints the files as a list, black on white, from the %s colour scheme',
    async (colorScheme) => {
      const here = await visit(browser, { colorScheme, viewport: { width: 700, height: 900 } });
      const { page } = here;
      await openAs(here, service, account.cookie);
      const row = page.getByRole('row').filter({ hasText: 'photo.jpg' });
      await row.waitFor();
      await openUploads(page);
      await page.emulateMedia({ media: 'print' });
      const controls = page.locator('header, main :is(a, button, input, img)').filter({ visible: true });
      // The name of a file is the button that opens its details.
      expect(await controls.evaluateAll((shown) => shown.map(({ textContent }) => textContent))).toEqual(
        ['a-name-of-one-very-long-word-'.repeat(8), 'photo.jpg'].map((name) => expect.stringContaining(name)),
      );
      expect(await row.innerText()).toMatch(/photo\.jpg\s+7 bytes\s+\S/);
      expect(await uploadPanel(page).isVisible()).toBe(false);
      expect(await row.evaluate((shown) => getComputedStyle(shown).color)).toBe('rgb(0, 0, 0)');
      await here.leave();
    },
  );

  test('works without the storage of the browser', async () => {
    const here = await visit(browser, { isFirst: true });
    const { page } = here;
    await page.addInitScript(() => {
      for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, name, {
          get: () => {
            throw new DOMException('Access is denied for this document.', 'SecurityError');
          },
        });
      }
    });
    await page.goto(`${service.urls.root_url}/dashboard/api-keys`);
    await logInFromPage(page, 'private@example.org');
    await page.getByRole('heading', { name: 'Upload your first file' }).waitFor();
    await page.getByRole('button', { name: 'Colour scheme' }).click();
    await page.getByRole('menuitem', { name: 'Dark' }).click();
    await page.getByRole('link', { name: 'API keys', exact: true }).click();
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Upload your first file' }).waitFor();
    await here.leave();
  });

  test('offers a text to copy, already selected, when the browser refuses the clipboard or has none', async () => {
    const here = await visit(browser);
    const { page } = here;
    await openAs(here, service, account.cookie);
    const link = await page.getByRole('link', { name: 'Open photo.jpg' }).getAttribute('href');
    for (const hasClipboard of [true, false]) {
      await page.evaluate((has) => {
        if (has) navigator.clipboard.writeText = () => Promise.reject(new Error('refused'));
        else Reflect.deleteProperty(Navigator.prototype, 'clipboard');
      }, hasClipboard);
      await page.getByRole('button', { name: 'Copy the link of photo.jpg' }).click();
      const shown = page.getByRole('textbox', { name: 'Text to copy' });
      expect(await shown.inputValue()).toBe(link);
      const selection = () => page.evaluate(() => String(getSelection()));
      await expect.poll(selection).toBe(link);
      await page.getByRole('alert').getByRole('button', { name: 'Close' }).click();
      await shown.waitFor({ state: 'hidden' });
    }
    await here.leave();
  });

  test.for([
    ['wraps each text', true],
    ['replaces each text', false],
  ] as const)(
    'goes on updating while a translator %s in the page, and keeps names as they are',
    async ([, keepsNode]) => {
      const here = await visit(browser);
      const { page } = here;
      const { cookie, byKey } = await service.newAccount();
      await byKey.upload('first.txt', 'one');
      await openAs(here, service, cookie);
      await page.getByRole('button', { name: 'Details of first.txt' }).waitFor();
      const translate = () =>
        page.evaluate((keeps) => {
          const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          const texts: Text[] = [];
          while (walker.nextNode()) texts.push(walker.currentNode as Text);
          for (const text of texts) {
            if (text.data.trim() === '' || text.parentElement?.closest('[translate=no], font, script, style')) continue;
            const [outer, inner] = [document.createElement('font'), document.createElement('font')];
            outer.append(inner);
            text.replaceWith(outer);
            inner.append(keeps ? text : `«${text.data}»`);
          }
        }, keepsNode);
      const main = page.getByRole('main');
      const upload = (name: string) =>
        page.getByTestId('files').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(name) });
      await here.context.setOffline(true);
      await upload('second.txt');
      await uploadPanel(page).getByText('Waiting. No connection to the service.').waitFor();
      await translate();
      await here.context.setOffline(false);
      await uploadPanel(page).getByText('10 bytes · Stored').waitFor();
      await uploadPanel(page).getByText('1 file uploaded').waitFor();
      await main.getByText('2 files', { exact: true }).waitFor();
      await main.getByText('second.txt', { exact: true }).waitFor();
      await translate();
      await page.getByRole('checkbox', { name: 'Select second.txt' }).click();
      await main.getByText('1 selected', { exact: true }).waitFor();
      await translate();
      await page.getByRole('checkbox', { name: 'Select first.txt' }).click();
      await main.getByText('2 selected', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Delete second.txt' }).click();
      await translate();
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /Delete/ })
        .click();
      await main.getByText('second.txt', { exact: true }).waitFor({ state: 'hidden' });
      await translate();
      for (const [name, heading] of [
        ['API keys', 'API keys'],
        ['Files', 'Files'],
      ] as const) {
        await page.getByRole('link', { name: new RegExp(`^\\W*${name}\\W*$`) }).click();
        await page.getByRole('heading', { name: heading }).waitFor();
        await translate();
      }
      expect(await main.getByText('first.txt', { exact: true }).count()).toBe(1);
      const keeps = async (text: string) => {
        await page.getByText(text, { exact: true }).first().waitFor();
        await translate();
        expect(await page.getByText(text, { exact: true }).count(), text).toBeGreaterThan(0);
      };
      const { body } = await byKey.request<{ items: { id: string }[] }>('GET', '/files');
      await page.getByRole('button', { name: /Details of.*first\.txt/ }).click();
      await keeps(String(body.items[0]?.id));
      await page.keyboard.press('Escape');
      await page.goto(`${service.urls.root_url}/dashboard/?search=nothing`);
      await keeps('nothing');
      await page.goto(`${service.urls.root_url}/dashboard/api-keys`);
      await page.getByRole('button', { name: 'Create API key' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Laptop');
      await page.keyboard.press('Enter');
      await keeps(
        await page
          .getByRole('dialog')
          .getByText(/^svc_\w+$/)
          .innerText(),
      );
      await page.getByRole('button', { name: /Done, I have saved it/ }).click();
      await page.getByRole('button', { name: 'Revoke Laptop' }).click();
      await page.getByRole('dialog', { name: /Laptop/ }).waitFor();
      await translate();
      expect(await page.getByRole('dialog').getByText('Laptop', { exact: true }).count()).toBe(1);
      await page.goto(`${service.urls.root_url}/dashboard/sessions`);
      await keeps('Unknown device');
      await page.getByRole('link', { name: /API reference/ }).click();
      const operation = page.locator('#operations-Files-uploadFile');
      await operation.waitFor();
      await translate();
      await operation.locator('.opblock-summary-control').click();
      await operation.locator('.try-out__btn').click();
      await operation.locator('.execute').waitFor();
      await translate();
      await operation.locator('.cancel').click();
      await operation.locator('.execute').waitFor({ state: 'hidden' });
      // What React does with a text that has siblings.
      await page.evaluate(() => {
        const text = document.createTextNode('a text');
        document.getElementById('content')?.replaceChildren(text, document.createElement('hr'));
        Object.assign(window, { text });
      });
      await translate();
      const left = await page.evaluate(() => {
        const content = document.getElementById('content') as HTMLElement;
        const { text } = window as unknown as { text: Text };
        content.insertBefore(document.createElement('br'), text);
        const before = [...content.children].map(({ tagName }) => tagName);
        content.removeChild(text);
        return [before, [...content.children].map(({ tagName }) => tagName)];
      });
      expect(left).toEqual([
        ['BR', 'FONT', 'HR'],
        ['BR', 'HR'],
      ]);
      await here.leave();
    },
  );

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
