import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { withLocalService } from '../../bench/local-service.ts';
import { launchBrowser, logInFromPage, visit } from '../../test/support/browser.ts';
import { LOOKS, PAGES, screenshotFile } from './pages.ts';

/** `npm run screenshots`: makes the pictures of the dashboard that the README shows, on a service of its own. */

/** Typical files; their content does not matter. */
const FILES = [
  ['notes.txt', 'text/plain', 2_140],
  ['song.mp3', 'audio/mpeg', 3_910_000],
  ['backup.tar.gz', 'application/gzip', 3_120_000],
  ['invoice 2026-07.pdf', 'application/pdf', 324_000],
] as const;

/** Runs in the page. Paints a sunset, and returns it as a PNG in base64. */
const PICTURE = `(() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 160, height: 160 });
  const context = canvas.getContext('2d');
  const sky = context.createLinearGradient(0, 0, 0, 160);
  sky.addColorStop(0, '#1b2a6b');
  sky.addColorStop(0.7, '#ff7a3d');
  sky.addColorStop(1, '#7a2a4a');
  context.fillStyle = sky;
  context.fillRect(0, 0, 160, 160);
  context.fillStyle = '#ffe9a8';
  context.beginPath();
  context.arc(80, 105, 28, 0, 7);
  context.fill();
  return canvas.toDataURL('image/png').split(',')[1];
})()`;

await withLocalService(async ({ urls: { root_url } }) => {
  const browser = await launchBrowser();
  try {
    await addSampleData(browser, root_url);
    for (const look of LOOKS) {
      const { page, leave } = await visit(browser, { ...look.options, reducedMotion: 'reduce' });
      for (const { name, path } of PAGES.filter(({ needsLogin }) => !needsLogin))
        await take(page, name, root_url + path);
      await logIn(page, root_url);
      for (const { name, path } of PAGES.filter(({ needsLogin }) => needsLogin))
        await take(page, name, root_url + path);
      await leave();

      async function take(on: Page, name: (typeof PAGES)[number]['name'], url: string): Promise<void> {
        await on.goto(url, { waitUntil: 'networkidle' });
        await on.screenshot({ path: join(import.meta.dirname, screenshotFile(name, look.name)) });
      }
    }
  } finally {
    await browser.close();
  }
});

/** Uploads files and creates a key through the dashboard. */
async function addSampleData(browser: Browser, rootUrl: string): Promise<void> {
  const { page, leave } = await visit(browser);
  await logIn(page, rootUrl);
  const picture = await page.evaluate<string>(PICTURE);
  const upload = async (name: string, mimeType: string, buffer: Buffer) => {
    await page.getByTestId('files').setInputFiles({ name, mimeType, buffer });
    await page.getByRole('button', { name: `Details of ${name}` }).waitFor();
  };
  for (const [name, mimeType, size] of FILES) await upload(name, mimeType, Buffer.alloc(size));
  await upload('sunset.png', 'image/png', Buffer.from(picture, 'base64'));
  await page.goto(`${rootUrl}/dashboard/api-keys`);
  for (const name of ['Laptop', 'CI of the website']) {
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Done, I have saved it' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  }
  await leave();
}

async function logIn(page: Page, rootUrl: string): Promise<void> {
  await page.goto(`${rootUrl}/dashboard/login`);
  await logInFromPage(page, 'ada.lovelace@example.com');
  await page.getByRole('heading', { name: 'Files', exact: true }).waitFor();
}
