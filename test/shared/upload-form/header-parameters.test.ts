import { expect, test } from 'vitest';
import { headerParameters } from '../../../shared/upload-form/header-parameters.ts';

test.each<[what: string, header: string, parameters: Record<string, string>]>([
  ['no parameters when it is a type alone', 'form-data', {}],
  ['no parameters after a lone semicolon', 'form-data;', {}],
  ['no parameter without an equals sign', 'form-data; name', {}],
  ['no parameter before its first semicolon', 'a=b; name=x', { name: 'x' }],
  ['a parameter after something that is not one', 'form-data; junk; name=x', { name: 'x' }],
  ['a parameter even when it begins with a semicolon', ';name=x', { name: 'x' }],
  ['a parameter without a name', 'form-data; =x; name=y', { '': 'x', name: 'y' }],
  ['an empty parameter at its end', 'form-data; name=', { name: '' }],
  ['a parameter whose value follows blanks', 'form-data; name= \t"x"', { name: 'x' }],
  ['a parameter whose value is a single character', 'form-data; name=x; file=y', { name: 'x', file: 'y' }],
  ['a parameter that ends in a semicolon', 'form-data; name="x";', { name: 'x' }],
  [
    'a parameter with an escaped backslash before the closing quote',
    'form-data; name="a\\\\"; file="b"',
    { name: 'a\\', file: 'b' },
  ],
  ['a parameter with an escaped backslash and an escaped quote', 'form-data; name="a\\\\\\"; b"', { name: 'a\\"; b' }],
  [
    'a parameter that ends at the first of two quotes that may close it',
    'form-data; name="a\\"; file=b\\"',
    { name: 'a\\', file: 'b\\"' },
  ],
])('a header has %s', (_, header, parameters) => {
  expect(Object.fromEntries(headerParameters(header))).toEqual(parameters);
});

test('only the first sixteen parameters of a header are read', () => {
  const header = `form-data${Array.from({ length: 20 }, (_, index) => `; p${index}=x`).join('')}`;
  expect([...headerParameters(header).keys()]).toEqual(Array.from({ length: 16 }, (_, index) => `p${index}`));
});
