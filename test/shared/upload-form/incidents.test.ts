import { expect, test } from 'vitest';
import { timesAsLong } from '../../support/times-as-long.ts';
import { chunksOf, disposition, FIELD, FILE, formOf, type Part, readForm } from './read-form.ts';

const REFUSED = { error: 'invalid_request', stored: 0, discarded: 0 };
const read = (...parts: readonly Part[]) => readForm(chunksOf(formOf(...parts)));

test('CVE-2023-25576 (@fastify/multipart): 100,000 empty parts are refused before all of them are read', async () => {
  let pulled = 0;
  async function* parts() {
    for (; pulled < 100_000; pulled++) yield Buffer.from(`--B\r\n${FIELD[0]}\r\n\r\n\r\n`);
    yield formOf(FILE);
  }
  expect(await readForm(parts())).toEqual(REFUSED);
  expect(pulled).toBeLessThan(2_000);
});

test.each([
  ['quotes', '"'.repeat(15_000)],
  ['quotes and semicolons', '";'.repeat(7_500)],
  ['escaped quotes', '\\"'.repeat(7_500)],
  ['spaces', `"${' '.repeat(15_000)}`],
  ['semicolons', `;${' ;'.repeat(7_500)}`],
  ['a long word', `"; ${'x'.repeat(15_000)}`],
])('a name of 15,000 characters made of %s is read about as fast as one of letters', async (_, name) => {
  const reading = (filename: string) => () => read([disposition(`; filename="${filename}`), 'content']);
  // Work that grows with the square of the length would take hundreds of times as long.
  expect(await timesAsLong(reading(name), reading('x'.repeat(15_000)))).toBeLessThan(20);
  expect(await reading(name)()).toMatchObject({ stored: 1 });
});
