import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { THOROUGH } from '../../vitest.soak.config.ts';

test('the soak tests include every test file that tries only a part of its cases by default', () => {
  const files = globSync('test/**/*.test.ts').filter((file) => file !== 'test/support/thorough.test.ts');
  const partial = files.filter((file) => /\b(IS_THOROUGH|TRIED|triedAt|NOT_RUN)\b/.test(readFileSync(file, 'utf8')));
  expect(partial.toSorted()).toEqual(THOROUGH.toSorted());
});
