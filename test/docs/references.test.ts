import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { brokenReferences, DOCUMENTS } from '../../docs/references.ts';
import { fillTables, TABLES_OF_DOCUMENTS } from '../../docs/tables.ts';

test.each(DOCUMENTS)('%s refers only to files, folders and headings that exist', (page) => {
  expect(brokenReferences(page)).toEqual([]);
});

test('a reference to a file, a folder or a heading that does not exist is found', () => {
  const text = [
    '# One heading: two',
    '`shared/contract/limits.ts`, `test/docs/`, `uploads/token`, [here](#one-heading-two), [there](api.md#errors), `shared/gone.ts`',
    '`docs/gone/`, [here](#another), [there](../README.md#gone), [gone](gone.md), [elsewhere](https://example.org/gone)',
  ].join('\n');
  expect(brokenReferences('docs/made-up.md', text)).toEqual([
    'shared/gone.ts',
    'docs/gone/',
    '#another',
    '../README.md#gone',
    'gone.md',
  ]);
});

test('a link to a file of tests must have the name of one of them, not a part of it', () => {
  const file = '../test/shared/api-keys/key-format.test.ts';
  const link = (name: string, path = file) => `[${name}](${path})`;
  const text = [
    link('a new key > is never the\n  same twice'),
    link('never the same'),
    link('a new key > is never'),
  ].join();
  expect(brokenReferences('docs/made-up.md', text)).toEqual(['never the same', 'a new key > is never']);
  expect(brokenReferences('docs/made-up.md', link('a test', '../test/gone.test.ts'))).toContain('a test');
});

test('the index of the decisions has each record, by its title', () => {
  const folder = join(import.meta.dirname, '../../docs/decisions');
  const lines = readdirSync(folder).flatMap((file) => {
    const [, number, title] = /^# (\d{4})\. (.+)$/m.exec(readFileSync(join(folder, file), 'utf8')) ?? [];
    return number === undefined ? [] : `- [${number}](${file}): ${title}`;
  });
  const index = readFileSync(join(folder, 'README.md'), 'utf8');
  expect((index.match(/^- .*$/gm) ?? []).sort()).toEqual(lines.sort());
});

test('every generated table is in a document, and up to date', () => {
  const pages = DOCUMENTS.map((page) => readFileSync(join(import.meta.dirname, '../..', page), 'utf8'));
  for (const page of pages) expect(fillTables(page)).toBe(page);
  for (const name of Object.keys(TABLES_OF_DOCUMENTS)) {
    expect(pages.filter((page) => page.includes(`<!-- table: ${name} -->`))).toHaveLength(1);
  }
});
