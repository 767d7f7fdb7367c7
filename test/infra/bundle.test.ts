import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { ENTRIES } from '../../infra/bundle/entries.ts';

test.each(Object.keys(ENTRIES))('the bundle of %s contains no dynamic import, which would load undici', (name) => {
  const code = readFileSync(join(inject('assembly'), 'bundles', name, 'index.js'), 'utf8');
  expect(code.match(/\bimport\(.{0,30}/g)).toBeNull();
});
