import { expect, test } from 'vitest';
import { headerParameters } from '../../../shared/upload-form/header-parameters.ts';

test('a header of quotes that never close does not take quadratic time', () => {
  const hostile = `form-data;${'a="\\";'.repeat(2_600)}`;
  const many = `form-data${Array.from({ length: 40 }, (_, index) => `; p${index}=x`).join('')}`;
  expect(headerParameters(hostile).size).toBe(1);
  expect(headerParameters(many).size).toBe(16);
  expect(headerParameters(`form-data; name="f"; filename="a.txt"; ${'x=1; '.repeat(3_000)}`).get('filename')).toBe(
    'a.txt',
  );
});
