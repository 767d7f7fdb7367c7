import fc from 'fast-check';
import { expect, test } from 'vitest';
import { disposition, readForm } from './read-form.ts';

const LEGAL = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'()+_,-./:=? ";
const boundaries = fc
  .string({ unit: fc.constantFrom(...LEGAL), minLength: 1, maxLength: 70 })
  .filter((boundary) => !boundary.endsWith(' '));

/** Content with many sequences that look like a delimiter, but without a delimiter. */
const contents = (boundary: string) => {
  const delimiter = new RegExp(`\r\n--${RegExp.escape(boundary)}(?:--)?[ \t]*\r\n`);
  const pieces = ['\r', '\n', '-', ' ', '\r\n--', `--${boundary}`, `\r\n--${boundary}`, `\r\n--${boundary}--`];
  return fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary' })))
    .map((chosen) => Buffer.from(chosen.join('')).toString('latin1'))
    .filter((content) => !delimiter.test(`\r\n${content}\r\n`));
};

/** File names that can be read back as they were: without browsers' escapes and without pairs of backslashes. */
const names = fc.string({ unit: 'grapheme' }).filter((name) => !/%(?:22|0D|0A)|\\\\/.test(name));
const escaped = (name: string) =>
  Buffer.from(name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')).toString('latin1');

/** A form with one part that is the file, and with other parts around it that are not. */
const forms = boundaries.chain((boundary) => {
  const beside = fc.array(
    fc.record({ kind: fc.constantFrom('field', 'typed', 'unselected'), content: contents(boundary) }),
    {
      maxLength: 3,
    },
  );
  return fc.record({
    boundary: fc.constant(boundary),
    preamble: contents(boundary),
    before: beside,
    name: fc.option(names),
    content: contents(boundary),
    after: beside,
    epilogue: fc.string(),
  });
});

type Beside = { readonly kind: string; readonly content: string };

function headersAndContent({ kind, content }: Beside): string {
  if (kind === 'typed') return `${disposition('')}\r\nContent-Type: a/json\r\n\r\n${content}`;
  if (kind === 'unselected') return `${disposition('; filename=""')}\r\nContent-Type: a/b\r\n\r\n`;
  return `${disposition('')}\r\n\r\n${content}`;
}

/** Sends the bytes in chunks of these sizes, which are used again and again until all bytes are sent. */
async function* chunked(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}
const chunkSizes = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1 });

test('a form of any boundary, parts and chunks is read back as it was written', async () => {
  await fc.assert(
    fc.asyncProperty(forms, chunkSizes, async (form, sizes) => {
      const { boundary, preamble, name, content } = form;
      const part = (text: string) => `\r\n--${boundary}\r\n${text}`;
      const besides = (parts: readonly Beside[]) => parts.map((beside) => part(headersAndContent(beside)));
      const file = name === null ? '\r\nContent-Type: image/png' : `; filename="x${escaped(name)}"`;
      const body = [
        preamble,
        ...besides(form.before),
        part(`${disposition(file)}\r\n\r\n${content}`),
        ...besides(form.after),
        `\r\n--${boundary}--\r\n${form.epilogue}`,
      ];
      const source = chunked(Buffer.from(body.join(''), 'latin1'), sizes);
      const reading = await readForm(source, `multipart/form-data; boundary="${boundary}"`);
      if (name === null && [...form.before, ...form.after].some(({ kind }) => kind === 'typed')) {
        expect(reading).toEqual({ error: 'invalid_request', stored: 0, discarded: 0 });
        return;
      }
      const filename = name === null ? undefined : `x${name}`;
      expect(reading).toMatchObject({ filename, stored: 1, discarded: 0 });
      expect(reading.content?.toString('latin1')).toBe(content);
    }),
    { numRuns: 300 },
  );
});

test('any bytes are either read as a form, or refused with invalid_request, and then what was stored is discarded', async () => {
  const pieces = [
    '--B',
    '\r\n--B\r\n',
    '\r\n--B--',
    '\r\n',
    '\r\n\r\n',
    ' ',
    ';',
    '"',
    '\\',
    '%',
    '\0',
    '\xff',
    ...[
      'Content-Disposition: form-data; name="a"; filename="b"',
      'Content-Disposition: form-data; name="a"\r\nContent-Type: a/b\r\n\r\n',
      "filename*=UTF-8''",
      'Content-Type: a/b',
      '__proto__: constructor',
    ],
  ];
  const bytes = fc
    .array(fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...pieces) }, fc.string()))
    .map((chosen) => chosen.join(''));
  await fc.assert(
    fc.asyncProperty(bytes, chunkSizes, async (text, sizes) => {
      const reading = await readForm(chunked(Buffer.from(text, 'latin1'), sizes));
      if (reading.error === undefined) expect(reading).toMatchObject({ stored: 1, discarded: 0 });
      else expect(reading).toEqual({ error: 'invalid_request', stored: reading.stored, discarded: reading.stored });
    }),
    { numRuns: 1000 },
  );
});
