import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fillTables, TABLES_OF_README } from '../../docs/tables.ts';

const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');

test("the README's generated tables are up to date", () => {
  expect(fillTables(readme)).toBe(readme);
  for (const name of Object.keys(TABLES_OF_README)) expect(readme).toContain(`<!-- table: ${name} -->`);
});

test('the README shows every screenshot, and no other', () => {
  const shown = [...readme.matchAll(/src="docs\/screenshots\/([^"]+)"/g)].map(([, file]) => file);
  const taken = readdirSync(join(import.meta.dirname, '../../docs/screenshots')).filter((name) =>
    name.endsWith('.png'),
  );
  expect(shown.sort()).toEqual(taken.sort());
});

test('the README names only scripts that exist', () => {
  const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
  const named = [...readme.matchAll(/npm run (\w+)|npm (start|test)\b/g)].map(([, run, direct]) => run ?? direct);
  expect(named.length).toBeGreaterThan(3);
  for (const script of named) expect(Object.keys(scripts)).toContain(script);
});
