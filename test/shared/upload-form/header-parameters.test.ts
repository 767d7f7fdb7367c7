import { expect, test } from 'vitest';
import { headerParameters } from '../../../shared/upload-form/header-parameters.ts';

test.each<[what: string, header: string, parameters: Record<string, string>]>([
  ['none', 'form-data', {}],
  ['none behind a semicolon', 'form-data;', {}],
  ['none without an equals sign', 'form-data; name', {}],
  ['none from before the first semicolon', 'a=b; name=x', { name: 'x' }],
  ['one behind what is not a parameter', 'form-data; junk; name=x', { name: 'x' }],
  ['one of a header that begins with it', ';name=x', { name: 'x' }],
  ['one without a name', 'form-data; =x; name=y', { '': 'x', name: 'y' }],
  ['an empty one at the end', 'form-data; name=', { name: '' }],
  ['one whose value stands behind blanks', 'form-data; name= \t"x"', { name: 'x' }],
  ['one whose value is a single character', 'form-data; name=x; file=y', { name: 'x', file: 'y' }],
  ['one that ends in a semicolon', 'form-data; name="x";', { name: 'x' }],
  ['an escaped backslash before the closing quote', 'form-data; name="a\\\\"; file="b"', { name: 'a\\', file: 'b' }],
  ['an escaped backslash and an escaped quote', 'form-data; name="a\\\\\\"; b"', { name: 'a\\"; b' }],
  ['the first of two quotes that may close', 'form-data; name="a\\"; file=b\\"', { name: 'a\\', file: 'b\\"' }],
])('the parameters of a header are %s', (_, header, parameters) => {
  expect(Object.fromEntries(headerParameters(header))).toEqual(parameters);
});

test('only the first sixteen parameters of a header are read', () => {
  const header = `form-data${Array.from({ length: 20 }, (_, index) => `; p${index}=x`).join('')}`;
  expect([...headerParameters(header).keys()]).toEqual(Array.from({ length: 16 }, (_, index) => `p${index}`));
});
