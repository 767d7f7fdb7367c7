import { expect, test } from 'vitest';
import { editDigest, staleRecords } from '../../docs/contract/seen-flips.ts';
import type { Flip } from '../flips/flip.ts';

const FLIP: Flip = { row: 'codes', reversal: 'reversed', file: 'a.ts', find: '1', replace: '2' };
const RECORD = {
  row: 'codes',
  reversal: 'reversed',
  edit: editDigest(FLIP),
  test: 'contract: codes > 7 is 404',
  file: 'a.test.ts',
};
const TEST = { name: 'contract: codes > %i is %i', file: 'a.test.ts' };

test('a flip that a test of today was seen to notice is in order', () => {
  expect(staleRecords([FLIP], [RECORD], [TEST])).toEqual([]);
});

test.for([
  ['a flip without a record', [FLIP], [], [TEST], 'never seen failing'],
  ['a flip with another edit', [{ ...FLIP, replace: '3' }], [RECORD], [TEST], 'never seen failing'],
  ['a record without a flip', [], [RECORD], [TEST], 'no flip of today'],
  [
    'a test that is called otherwise',
    [FLIP],
    [RECORD],
    [{ ...TEST, name: 'contract: codes > is 404' }],
    'no test of today',
  ],
  ['a test that moved', [FLIP], [RECORD], [{ ...TEST, file: 'b.test.ts' }], 'no test of today'],
] as const)('%s is stale', ([, flips, seen, tests, expected]) => {
  expect(staleRecords(flips, seen, tests)[0]).toMatch(new RegExp(`^${expected}: `));
});
