import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const screenshots = join(ROOT, 'docs/screenshots');

test('the page of screenshots shows every screenshot, and no other', () => {
  const page = readFileSync(join(screenshots, 'README.md'), 'utf8');
  const shown = [...page.matchAll(/src="([^"]+)"/g)].map(([, file]) => file);
  const taken = readdirSync(screenshots).filter((name) => name.endsWith('.png'));
  expect(shown.sort()).toEqual(taken.sort());
});

test('the README has at most 150 lines', () => {
  expect(readme.split('\n').length).toBeLessThanOrEqual(150);
});

test('the README names only scripts that exist', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const named = [...readme.matchAll(/npm run (\w+)|npm (start|test)\b/g)].map(([, run, direct]) => run ?? direct);
  expect(named.length).toBeGreaterThan(3);
  for (const script of named) expect(Object.keys(scripts)).toContain(script);
});
