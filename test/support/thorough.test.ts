import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { THOROUGH } from '../../vitest.soak.config.ts';

test('every test that leaves a part to the soak tests is one of them', () => {
  const files = globSync('test/**/*.test.ts').filter((file) => file !== 'test/support/thorough.test.ts');
  const leaving = files.filter((file) => /\b(IS_THOROUGH|TRIED|triedAt)\b/.test(readFileSync(file, 'utf8')));
  expect(leaving.toSorted()).toEqual(THOROUGH.toSorted());
});
