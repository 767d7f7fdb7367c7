import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fillTables, TABLES_OF_ARCHITECTURE } from '../../docs/tables.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = globSync(['*.md', 'docs/**/*.md', 'local-aws/*.md'], { cwd: ROOT });
const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');

describe.each(PAGES)('%s', (page) => {
  test('names only files and folders that exist', () => {
    const folders = readdirSync(ROOT, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? entry.name : [],
    );
    const spans = [...read(page).matchAll(/`([\w.-]+\/[\w./-]*)`/g)].flatMap(([, path]) => path ?? []);
    const paths = spans.filter((path) => folders.includes(path.split('/')[0] ?? ''));
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test('links only to files and headings that exist', () => {
    const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link]) => link ?? []);
    const broken = links.filter((link) => {
      if (/^https?:/.test(link)) return false;
      const [path = '', heading] = link.split('#');
      const target = path === '' ? page : join(dirname(page), path);
      if (!existsSync(join(ROOT, target))) return true;
      return heading !== undefined && !headingsOf(target).includes(heading);
    });
    expect(broken).toEqual([]);
  });
});

/** The anchors of a page, as GitHub makes them of its headings. */
function headingsOf(page: string): string[] {
  const headings = [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  const anchors = [...read(page).matchAll(/<a (?:id|name)="([^"]+)">/g)].flatMap(([, id]) => id ?? []);
  const ofHeading = (heading: string) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-');
  return [...headings.map(ofHeading), ...anchors];
}

test('the architecture page has every table, as the code has it now', () => {
  const page = read('docs/architecture.md');
  expect(fillTables(page)).toBe(page);
  for (const name of Object.keys(TABLES_OF_ARCHITECTURE)) expect(page).toContain(`<!-- table: ${name} -->`);
});
