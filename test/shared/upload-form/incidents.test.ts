import { expect, test } from 'vitest';
import { timesAsLong } from '../../support/times-as-long.ts';
import { chunksOf, disposition, FIELD, FILE, formOf, type Part, readForm } from './read-form.ts';

const REFUSED = { error: 'invalid_request', stored: 0, discarded: 0 };
const READ = { filename: 'a.txt', content: Buffer.from('content'), stored: 1, discarded: 0 };
const field = (name: string, value = 'x'): Part => [`Content-Disposition: form-data; name="${name}"`, value];
const read = (...parts: readonly Part[]) => readForm(chunksOf(formOf(...parts)));

test('CVE-2026-19484 (@fastify/busboy): a boundary of 252 bytes is refused, not read in a loop', async () => {
  const boundary = 'x'.repeat(252);
  const body = Buffer.from(`--${boundary}\r\n${FILE[0]}\r\n\r\ncontent\r\n--${boundary}--\r\n`);
  expect(await readForm(chunksOf(body), `multipart/form-data; boundary=${boundary}`)).toEqual(REFUSED);
});

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
  'CVE-2026-19481 (@fastify/busboy): a part header named %s is a header like any other',
  async (name) => {
    expect(await read([`${name}: x\r\n${FILE[0]}`, 'content'])).toMatchObject(READ);
    expect(await read([`${name}: x`, 'content'], FILE)).toMatchObject(READ);
    expect(await read([`${FILE[0]}; ${name}="x"`, 'content'])).toMatchObject(READ);
  },
);

test.each(['\r', '\n'])('CVE-2026-74866 (@fastify/busboy): a bare %j in a name begins no header', async (lineBreak) => {
  const name = `a${lineBreak}Content-Type: text/html${lineBreak}${lineBreak}b.txt`;
  const reading = await read([`${disposition(`; filename="${name}"`)}`, 'content']);
  expect(reading).toMatchObject({ ...READ, filename: name, contentType: undefined });
  expect(
    await read([`Content-Disposition: form-data; name="a${lineBreak}b"; filename="a.txt"`, 'content']),
  ).toMatchObject(READ);
});

test('CVE-2023-25576 (@fastify/multipart): 100,000 empty parts are refused before all of them are read', async () => {
  let pulled = 0;
  async function* parts() {
    for (; pulled < 100_000; pulled++) yield Buffer.from(`--B\r\n${FIELD[0]}\r\n\r\n\r\n`);
    yield formOf(FILE);
  }
  expect(await readForm(parts())).toEqual(REFUSED);
  expect(pulled).toBeLessThan(2_000);
});

test.each(['__proto__', '__proto__.x', 'constructor', 'constructor.prototype.x'])(
  'CVE-2020-8136, CVE-2021-23597 (fastify-multipart), CVE-2026-56763 (hono): a field named %s is skipped',
  async (name) => {
    expect(await read(field(name), FILE, field(name))).toMatchObject(READ);
    expect(await read([`Content-Disposition: form-data; name="${name}"; filename="a.txt"`, 'content'])).toMatchObject(
      READ,
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
  },
);

test('CVE-2022-24434 (dicer): a header line that begins with a space is refused', async () => {
  const body = Buffer.from('--B\r\n Content-Disposition: form-data; name="x"\r\n\r\n\r\n--B--');
  expect(await readForm(chunksOf(body))).toEqual(REFUSED);
});

test.each([
  ['no line break after the boundary', '--B'],
  ['a header without its end', `--B\r\n${FILE[0]}`],
  ['an empty header block and no more', '--B\r\n\r\n'],
  ['a closing delimiter in the headers', `--B\r\n${FILE[0]}\r\n--B--\r\n`],
])('CVE-2025-7338, -47944 (multer): a malformed body with %s is refused', async (_, body) => {
  expect(await readForm(chunksOf(Buffer.from(body)))).toEqual(REFUSED);
});

test('CVE-2025-47935 (multer), CVE-2026-18549 (@fastify/multipart): a stream that breaks in the file is refused', async () => {
  async function* broken() {
    yield Buffer.from(`--B\r\n${FILE[0]}\r\n\r\ncont`);
    throw new Error('aborted');
  }
  expect(await readForm(broken())).toEqual(REFUSED);
});

test('CVE-2025-48997 (multer): a file under an empty field name is a file', async () => {
  expect(await read(['Content-Disposition: form-data; name=""; filename="a.txt"', 'content'])).toMatchObject(READ);
});

test.each([
  ['CVE-2026-5079 (multer): a nesting of 4,000 levels', `a${'[b]'.repeat(4_000)}`],
  ['CVE-2026-77078 (multer): a huge index', 'a[4294967295]'],
  ['CVE-2026-77078 (multer): an empty index', 'a[]'],
  ['CVE-2026-128842 (@fastify/busboy): a malformed escape', `%${'%zz'.repeat(1_000)}`],
])('%s in the name of a field is not interpreted', async (_, name) => {
  expect(await read(field(name), FILE, field(name, '%zz'))).toMatchObject(READ);
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
