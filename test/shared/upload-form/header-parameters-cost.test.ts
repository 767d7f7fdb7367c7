import { expect, test } from 'vitest';
import { headerParameters } from '../../../shared/upload-form/header-parameters.ts';
import { timesAsLong } from '../../support/times-as-long.ts';

const ofOpenQuotes = (count: number) => `form-data;${'a="\\";'.repeat(count)}`;

test('a header of quotes that never close is read about as fast as ten headers of a tenth of its length', async () => {
  const hostile = ofOpenQuotes(2_600);
  const many = `form-data${Array.from({ length: 40 }, (_, index) => `; p${index}=x`).join('')}`;
  const tenth = ofOpenQuotes(260);
  const times = await timesAsLong(
    () => headerParameters(hostile),
    () => Array.from({ length: 10 }, () => headerParameters(tenth)),
  );
  // Work that grows with the square of the length would take ten times as long.
  expect(times).toBeLessThan(4);
  expect(headerParameters(hostile).size).toBe(1);
  expect(headerParameters(many).size).toBe(16);
  expect(headerParameters(`form-data; name="f"; filename="a.txt"; ${'x=1; '.repeat(3_000)}`).get('filename')).toBe(
    'a.txt',
  );
});
