import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminProcessJson } from '../support/admin.ts';
import {
  drop,
  HAS_BROWSER,
  openAccount,
  sharedBrowser,
  slowUploads,
  uploadPanel,
  type Visit,
  visit,
} from '../support/browser.ts';
import { uploadThrough } from '../support/lanes.ts';
import { borrowTestService, type TestAccount, type TestService } from '../support/service.ts';
import { IS_THOROUGH } from '../support/thorough.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const FOLDER_FILES = IS_THOROUGH ? 200 : 24;
const FILM_BYTES = (IS_THOROUGH ? 60 : 20) * MIB;

let service: TestService;
let browser: Browser;
let directory: string;
let account: TestAccount;
let here: Visit;

async function arrive(): Promise<Page> {
  ({ account, here } = await openAccount(service, browser));
  return here.page;
}

/** The files of the account, read through the API. */
async function stored(): Promise<{ name: string; size_bytes: number; mime_type: string }[]> {
  const { body } = await account.byKey.request<{ items: { name: string; size_bytes: number; mime_type: string }[] }>(
    'GET',
    '/files?limit=100',
  );
  return body.items;
}

/** What is dragged, in the words of the debugging protocol. */
interface DragData {
  readonly items: { mimeType: string; data: string }[];
  readonly dragOperationsMask: number;
}

/**
 * Begins a drag by the mouse on an element of the page, and drops it on the page. Chromium drags an image with a file of its content. Its
 * debugging protocol leaves this file out, so `file` takes its place.
 */
async function dragInside(page: Page, selector: string, file: string): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const box = await page.locator(selector).first().boundingBox();
  if (!box) throw new Error(`${selector} is not visible`);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await devtools.send('Input.setInterceptDrags', { enabled: true });
  const intercepted = new Promise<DragData>((resolve) =>
    devtools.once('Input.dragIntercepted', ({ data }) => resolve(data)),
  );
  const mouse = (type: 'mousePressed' | 'mouseMoved' | 'mouseReleased', far: number) =>
    devtools.send('Input.dispatchMouseEvent', {
      type,
      x: x + far,
      y: y + far,
      button: 'left',
      buttons: 1,
      clickCount: 1,
    });
  await mouse('mousePressed', 0);
  for (const far of [5, 10, 20]) await mouse('mouseMoved', far);
  const data = { ...(await intercepted), files: [file] };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await devtools.send('Input.dispatchDragEvent', { type, x: 400, y: 500, data });
  await mouse('mouseReleased', 20);
  await devtools.detach();
}

/** Begins a list in the page that gets an entry each time the zone for dropping is there: a test that is busy could miss it. */
function recordZones(page: Page) {
  return page.evaluateHandle(() => {
    const seen: string[] = [];
    new MutationObserver(() => {
      if (document.body.textContent?.includes('Drop to upload')) seen.push('zone');
    }).observe(document.body, { subtree: true, childList: true });
    return seen;
  });
}

const rowOf = (page: Page, name: string) => uploadPanel(page).getByRole('listitem').filter({ hasText: name });

describe.runIf(HAS_BROWSER)('uploading in the dashboard', () => {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dashboard-'));
    [service, browser] = await Promise.all([borrowTestService(), sharedBrowser()]);
  });
  afterAll(async () => {
    await service.close();
    await rm(directory, { recursive: true });
  });

  describe('on one page', () => {
    beforeAll(arrive);
    afterAll(() => here.leave());

    test('stores files that are chosen', async () => {
      const { page } = here;
      await page.getByTestId('files').setInputFiles([
        { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') },
        { name: 'Grüße — 文件.json', mimeType: 'application/json', buffer: Buffer.from('{}') },
        { name: 'empty', mimeType: '', buffer: Buffer.alloc(0) },
      ]);
      await uploadPanel(page).getByText('3 files uploaded').waitFor();
      await page.getByRole('button', { name: 'Details of Grüße — 文件.json' }).waitFor();
      expect((await stored()).map(({ name }) => name).sort()).toEqual(['Grüße — 文件.json', 'empty', 'notes.txt']);
    });

    test('stores files that are dropped, including those in folders', async () => {
      const { page } = here;
      const folder = join(directory, 'album');
      await mkdir(join(folder, 'deep/deeper'), { recursive: true });
      await writeFile(join(folder, 'one.txt'), '1');
      await writeFile(join(folder, 'deep/two.txt'), '22');
      await writeFile(join(folder, 'deep/deeper/three.txt'), '333');
      await writeFile(join(directory, 'beside.txt'), '4444');
      await drop(page, [folder, join(directory, 'beside.txt')]);
      await uploadPanel(page).getByText('7 files uploaded').waitFor();
      expect(
        (await stored())
          .slice(0, 4)
          .map(({ size_bytes }) => size_bytes)
          .sort(),
      ).toEqual([1, 2, 3, 4]);
    });

    test('does not start when files are dragged over the page and away again', async () => {
      const { page } = here;
      const devtools = await page.context().newCDPSession(page);
      const zones = await recordZones(page);
      const data = { items: [], files: [join(directory, 'beside.txt')], dragOperationsMask: 1 };
      for (const type of ['dragEnter', 'dragOver'] as const)
        await devtools.send('Input.dispatchDragEvent', { type, x: 400, y: 300, data });
      await expect.poll(() => zones.jsonValue()).toContain('zone');
      // Now the files leave the page, for example for another window. The browser fires no event for that.
      await page.getByText('Drop to upload').waitFor({ state: 'detached' });
      expect(await stored()).toHaveLength(7);
    });

    test('stores an image that is pasted', async () => {
      const { page } = here;
      await page.evaluate(async () => {
        const canvas = Object.assign(document.createElement('canvas'), { width: 8, height: 8 });
        const image = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve));
        await navigator.clipboard.write([new ClipboardItem({ 'image/png': image ?? '' })]);
      });
      await page.keyboard.press('Control+V');
      await uploadPanel(page).getByText('8 files uploaded').waitFor();
      expect((await stored())[0]).toMatchObject({ name: 'image.png', mime_type: 'image/png' });
    });

    test('does not start when the logo, a thumbnail or a link of the page is dragged', async () => {
      const { page } = here;
      await page.locator('tbody img').waitFor();
      const zones = await recordZones(page);
      for (const selector of ['header img', 'tbody img', 'nav a'])
        await dragInside(page, selector, join(directory, 'beside.txt'));
      await page.getByTestId('files').setInputFiles(join(directory, 'album/one.txt'));
      await uploadPanel(page).getByText('9 files uploaded').waitFor();
      expect(await zones.jsonValue()).toEqual([]);
      expect(await stored()).toHaveLength(9);
    });
  });

  test.for(['dropped', 'chosen'] as const)(
    'hidden and generated items of a folder that is %s are left out and named, and uploaded only when asked for',
    async (way) => {
      const page = await arrive();
      const folder = join(directory, `.project-${way}`);
      const more = Array.from({ length: 9 }, (_, at) => `deep/${at}/.DS_Store`);
      const left = ['.git/config', '.git/hooks/one', 'node_modules/a/b.js', '.env', 'deep/Thumbs.db', ...more];
      for (const path of ['index.html', 'deep/page.html', ...left]) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), path);
      }
      if (way === 'dropped') await drop(page, [folder]);
      else await page.getByTestId('folder').setInputFiles(folder);
      await uploadPanel(page).getByText('2 files uploaded').waitFor();
      const notice = page.getByRole('status').filter({ hasText: '13 hidden or generated items are left out' });
      const named = notice.getByRole('listitem');
      expect((await named.allTextContents()).sort()).toEqual(
        ['.git', 'node_modules', '.env', 'deep/Thumbs.db', ...more].map((path) => `.project-${way}/${path}`).sort(),
      );
      expect(await named.first().evaluate((item) => item.closest('[translate=no]') !== null)).toBe(true);
      expect((await stored()).map(({ name }) => name).sort()).toEqual(['index.html', 'page.html']);
      await notice.getByRole('button', { name: 'Upload them too' }).click();
      await uploadPanel(page).getByText('16 files uploaded').waitFor();
      expect(await stored()).toHaveLength(16);
      await here.leave();
    },
  );

  test.each([
    ['the login page', '/dashboard/login', 'Continue with Google'],
    ['an unknown page', '/dashboard/nowhere', 'There is no such page.'],
    ['a page that could not be loaded', '/dashboard/', 'The service had an unexpected error.'],
  ])('a file that is dropped on %s is not left to the browser, which would open it instead', async (_, path, text) => {
    here = await visit(browser);
    const { page } = here;
    await page.route('**/api/v1/auth/me', (route) => route.fulfill({ status: 500, json: { error: 'internal_error' } }));
    await page.goto(service.urls.root_url + path);
    await page.getByText(text).waitFor();
    const decided = await page.evaluateHandle(() => {
      const decisions: unknown[] = [];
      window.addEventListener('dragover', (event) =>
        decisions.push([event.defaultPrevented, event.dataTransfer?.dropEffect]),
      );
      return decisions;
    });
    const url = page.url();
    await drop(page, [join(directory, 'beside.txt')]);
    expect([page.url(), here.context.pages().length]).toEqual([url, 1]);
    expect(new Set(await decided.jsonValue().then((all) => all.map(String)))).toEqual(new Set(['true,none']));
    await here.leave();
  });

  test('sends a large file directly to the storage, with a progress bar', async () => {
    const page = await arrive();
    const film = join(directory, 'film.mp4');
    await writeFile(film, Buffer.alloc(FILM_BYTES, 'film'));
    await slowUploads(page, FILM_BYTES / 3);
    const puts: string[] = [];
    page.on('request', (request) => request.method() === 'PUT' && puts.push(new URL(request.url()).origin));
    // The page records every value of the bar itself: a busy test could miss them.
    const recorded = await page.evaluateHandle(() => {
      const values: number[] = [];
      new MutationObserver((changes) => {
        for (const { target } of changes) {
          const bar = target as Element;
          if (bar.closest('li')?.textContent?.includes('film.mp4'))
            values.push(Number(bar.getAttribute('aria-valuenow')));
        }
      }).observe(document.body, { subtree: true, attributeFilter: ['aria-valuenow'] });
      return values;
    });
    await page.getByTestId('files').setInputFiles(film);
    await uploadPanel(page).getByText('1 file uploaded').waitFor();
    const values = await recorded.jsonValue();
    expect(new Set(values.filter((value) => value > 0 && value < 100)).size).toBeGreaterThan(3);
    expect(values).toEqual(values.toSorted((one, other) => one - other));
    expect(puts).toEqual([expect.not.stringContaining(service.urls.root_url)]);
    expect(await stored()).toMatchObject([{ name: 'film.mp4', mime_type: 'video/mp4', size_bytes: FILM_BYTES }]);
    await here.leave();
  });

  test.for([
    ['100 KiB/s sends one large file at a time, and a short one beside it', 100 * KIB, 5 * MIB, 1],
    ['4 MiB/s sends several large files at once', 4 * MIB, 20 * MIB, 3],
  ] as const)('over a connection of %s', async ([, bytesPerSecond, size, atOnce]) => {
    const page = await arrive();
    await slowUploads(page, bytesPerSecond);
    let begun = 0;
    page.on('request', (request) => {
      if (request.method() === 'PUT') begun++;
    });
    const large = await Promise.all(
      ['one.bin', 'two.bin', 'three.bin'].map(async (name) => {
        await writeFile(join(directory, name), Buffer.alloc(size));
        return join(directory, name);
      }),
    );
    await writeFile(join(directory, 'short.txt'), 'short');
    await page.getByTestId('files').setInputFiles([...large, join(directory, 'short.txt')]);
    await rowOf(page, 'short.txt').getByText('Stored').waitFor();
    // When the panel shows a speed, the queue knows the speed of the connection.
    await uploadPanel(page)
      .getByText(/[KM]B\/s/)
      .waitFor();
    await expect.poll(() => begun).toBe(atOnce);
    await page.waitForTimeout(1_000);
    expect(begun).toBe(atOnce);
    await page.getByRole('button', { name: 'Cancel all' }).click();
    await uploadPanel(page).getByText('1 file uploaded').waitFor();
    await here.leave();
  });

  test('shows a file in the list even when it is stored while the list loads for the first time', async () => {
    ({ account, here } = await openAccount(service, browser));
    const { page } = here;
    const { promise: isRefreshing, resolve: tellRefreshing } = Promise.withResolvers<void>();
    let [lists, isStored] = [0, false];
    await page.route('**/api/v1/files?*', async (route) => {
      if (++lists > 1) return route.fallback();
      const response = await route.fetch();
      await isRefreshing;
      await route.fulfill({ response });
    });
    page.on('response', (response) => {
      if (response.status() === 201) isStored = true;
    });
    // The dashboard refreshes the list and the profile at the same time, and the first list is answered only after that.
    page.on('request', (request) => {
      if (isStored && request.url().endsWith('/auth/me')) tellRefreshing();
    });
    await page.reload();
    await page
      .getByTestId('files')
      .setInputFiles([{ name: 'early.txt', mimeType: 'text/plain', buffer: Buffer.from('early') }]);
    await uploadPanel(page).getByText('1 file uploaded').waitFor();
    await page.getByRole('button', { name: 'Details of early.txt' }).waitFor();
    await here.leave();
  });

  test('charges nothing for an upload that is cancelled', async () => {
    const page = await arrive();
    const film = join(directory, 'long.mp4');
    await writeFile(film, Buffer.alloc(20 * MIB));
    await slowUploads(page, MIB);
    await page.getByTestId('files').setInputFiles(film);
    const used = async () =>
      (await account.bySession.request<{ storage_used_bytes: number }>('GET', '/auth/me')).body.storage_used_bytes;
    await expect.poll(used).toBe(20 * MIB);
    await page.getByRole('button', { name: 'Cancel the upload of long.mp4' }).click();
    await uploadPanel(page).waitFor({ state: 'detached' });
    await expect.poll(used).toBe(0);
    expect(await stored()).toEqual([]);
    await here.leave();
  });

  test('pauses an upload, which then uses no storage, and stores it once when it is resumed', async () => {
    const page = await arrive();
    // The first request of each upload gets no answer.
    let waiting = 0;
    for (const address of ['**/incoming/**', '**/api/v1/files']) {
      await page.route(address, (route) => {
        const sendsFile = ['PUT', 'POST'].includes(route.request().method());
        if (!sendsFile || waiting >= 2) return route.fallback();
        waiting++;
      });
    }
    await writeFile(join(directory, 'film'), Buffer.alloc(5 * MIB));
    await writeFile(join(directory, 'form'), Buffer.alloc(MIB));
    await page.getByTestId('files').setInputFiles([join(directory, 'film'), join(directory, 'form')]);
    await expect.poll(() => waiting).toBe(2);
    const used = async () =>
      (await account.bySession.request<{ storage_used_bytes: number }>('GET', '/auth/me')).body.storage_used_bytes;
    expect(await used()).toBe(5 * MIB);
    await page.getByRole('button', { name: 'Pause the upload of form' }).click();
    await rowOf(page, 'form').getByText('Paused').waitFor();
    await page.getByRole('button', { name: 'Pause the upload of film' }).click();
    await uploadPanel(page).getByText('Paused at 0 of 2').waitFor();
    await expect.poll(used).toBe(0);
    await page.getByRole('button', { name: 'Resume the upload of form' }).click();
    await rowOf(page, 'form').getByText('Stored').waitFor();
    await rowOf(page, 'film').getByText('Paused').waitFor();
    await page.getByRole('button', { name: 'Resume the upload of film' }).click();
    await uploadPanel(page).getByText('2 files uploaded').waitFor();
    expect((await stored()).map(({ name, size_bytes }) => [name, size_bytes])).toEqual([
      ['film', 5 * MIB],
      ['form', MIB],
    ]);
    await here.leave();
  });

  test(`stores all of a folder of ${FOLDER_FILES} files although some requests are 429`, async () => {
    const page = await arrive();
    const folder = join(directory, 'many');
    await mkdir(folder);
    await Promise.all(
      Array.from({ length: FOLDER_FILES }, (_, index) => writeFile(join(folder, `${index}.txt`), `file ${index}`)),
    );
    let uploads = 0;
    await page.route('**/api/v1/files', (route) => {
      if (route.request().method() !== 'POST' || ++uploads % (FOLDER_FILES / 4) !== 0) return route.fallback();
      return route.fulfill({ status: 429, headers: { 'Retry-After': '1' }, json: { error: 'rate_limit_exceeded' } });
    });
    await page.getByTestId('folder').setInputFiles(folder);
    await uploadPanel(page).getByText(`${FOLDER_FILES} files uploaded`).waitFor({ timeout: 200_000 });
    const { body } = await account.byKey.request<{ total: number }>('GET', '/files');
    expect(body.total).toBe(FOLDER_FILES);
    await here.leave();
  });

  test('explains that a file does not fit, and how much storage is free', async () => {
    const page = await arrive();
    await adminProcessJson(service, 'set-limit', account.email, '1000');
    await page.reload();
    await page
      .getByTestId('files')
      .setInputFiles([{ name: 'fits.txt', mimeType: 'text/plain', buffer: Buffer.alloc(950) }]);
    await uploadPanel(page).getByText('1 file uploaded').waitFor();
    await page.getByText('Almost full: 50 bytes left').waitFor();
    await page
      .getByTestId('files')
      .setInputFiles([{ name: 'over.txt', mimeType: 'text/plain', buffer: Buffer.alloc(51) }]);
    await rowOf(page, 'over.txt').getByText('Not enough storage: 50 bytes left.').waitFor();
    // A program stores another file meanwhile.
    await uploadThrough('inline', account, 'elsewhere.txt', 'x'.repeat(40));
    await page.getByRole('button', { name: 'Upload over.txt again' }).click();
    await rowOf(page, 'over.txt').getByText('Not enough storage: 10 bytes left.').waitFor();
    await here.leave();
  });

  test.each([
    [
      'the bytes of a day are used up',
      { status: 429, headers: { 'Retry-After': '40000' }, json: { error: 'rate_limit_exceeded' } },
      'You have reached the upload limit for today. Try again after midnight (UTC).',
    ],
    [
      'the account has the maximum number of files',
      { status: 403, json: { error: 'storage_limit_exceeded' } },
      'You have the maximum number of files. Delete one first.',
    ],
  ])('explains at once, instead of waiting, that %s', async (_, answer, sentence) => {
    const page = await arrive();
    await page.route('**/api/v1/files', (route) =>
      route.request().method() === 'POST' ? route.fulfill(answer) : route.fallback(),
    );
    const file = { name: 'over.txt', mimeType: 'text/plain', buffer: Buffer.alloc(5) };
    await page.getByTestId('files').setInputFiles([file]);
    await rowOf(page, 'over.txt').getByText(sentence).waitFor();
    await page.unroute('**/api/v1/files');
    await page.getByRole('button', { name: 'Upload over.txt again' }).click();
    await uploadPanel(page).getByText('1 file uploaded').waitFor();
    await here.leave();
  });
});
