import { expect, test } from 'vitest';
import { headerParameters } from '../../../shared/upload-form/header-parameters.ts';
import { processorMs } from './read-form.ts';

test('a header of quotes that never close is read in a tenth of a second of processor time', async () => {
  const hostile = `form-data;${'a="\\";'.repeat(2_600)}`;
  const many = `form-data${Array.from({ length: 40 }, (_, index) => `; p${index}=x`).join('')}`;
  expect(await processorMs(() => headerParameters(hostile))).toBeLessThan(100);
  expect(headerParameters(hostile).size).toBe(1);
  expect(headerParameters(many).size).toBe(16);
  expect(headerParameters(`form-data; name="f"; filename="a.txt"; ${'x=1; '.repeat(3_000)}`).get('filename')).toBe(
    'a.txt',
  );
});
