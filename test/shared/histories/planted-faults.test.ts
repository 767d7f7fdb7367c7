import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { occursOnce, PLANTED } from './planted-faults.ts';

test.for(PLANTED)('there is one place for $kind', ({ file, text, replacement }) => {
  const code = readFileSync(join(import.meta.dirname, '../../..', file), 'utf8');
  expect(occursOnce(code, text)).toBe(true);
  expect(replacement).not.toBe(text);
});
