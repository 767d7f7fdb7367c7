import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { THOROUGH } from '../vitest.soak.config.ts';
import { SOAK_OPTIONS } from './support/soak-options.ts';

const textOf = (file: string) => readFileSync(file, 'utf8');

test('the soak tests include every test file that tries only a part of its cases by default', () => {
  const files = globSync('test/**/*.test.ts').filter((file) => file !== 'test/soak.test.ts');
  const partial = files.filter((file) => /\b(IS_THOROUGH|TRIED|triedAt|NOT_RUN)\b/.test(textOf(file)));
  expect(partial.toSorted()).toEqual(THOROUGH.toSorted());
});

test('the options of the soak are the variables that its tests read', () => {
  const files = ['vitest.soak.config.ts', ...globSync('test/**/*.soak.ts')];
  const text = files.map(textOf).join().replaceAll('Object.assign(process.env,', '');
  const reads = [...text.matchAll(/\bprocess\.env\.(\w+)|\{ (\w+) \} = process\.env\b(?!\.)/g)];
  // Every use of the environment shows the name that it reads.
  expect(reads).toHaveLength(text.split('process.env').length - 1);
  const names = reads.map(([, one, other]) => one ?? other);
  expect([...new Set(names)].sort()).toEqual(Object.keys(SOAK_OPTIONS).sort());
});
