import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CONTRACT_ROWS } from '../../docs/contract/rows.ts';
import type { Edit } from './flip.ts';
import { FLIPS } from './flips.ts';

const ROOT = join(import.meta.dirname, '../..');

test('every row of the contract has a flip, and every flip a row', () => {
  const rows = CONTRACT_ROWS.map(({ name }) => name);
  expect([...new Set(FLIPS.map(({ row }) => row))].sort()).toEqual([...rows].sort());
});

test('every flip finds its one place in the source', () => {
  const isLost = ({ file, find }: Edit) => readFileSync(join(ROOT, file), 'utf8').split(find).length !== 2;
  const lost = FLIPS.filter((flip) => isLost(flip) || (flip.also && isLost(flip.also)));
  expect(lost.map(({ row, reversal, file }) => `${row}: ${reversal} (${file})`)).toEqual([]);
});
