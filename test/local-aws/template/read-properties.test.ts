import { expect, test } from 'vitest';
import { readProperties } from '../../../local-aws/template/read-properties.ts';

const read = (properties: Record<string, unknown>) =>
  readProperties('Thing', properties, (take) => [take('A'), take('B', 2)], ['Comment']);

test('readProperties gives the value or the fallback', () => {
  expect(read({ A: 1 })).toEqual([1, 2]);
  expect(read({ A: 1, B: 3, Comment: 'any' })).toEqual([1, 3]);
});

test('a missing property is an error', () => {
  expect(() => read({ B: 1 })).toThrow('Thing has no A');
});

test('an unknown property is an error', () => {
  expect(() => read({ A: 1, C: 1, D: 1 })).toThrow('Thing: the local AWS does not implement C, D');
});
