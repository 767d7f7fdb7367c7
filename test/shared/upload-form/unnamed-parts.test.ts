import { describe, expect, test } from 'vitest';
import { MULTIPART_FRAMING_MAX_BYTES } from '../../../shared/contract/limits.ts';
import { type FilePart, readUploadForm } from '../../../shared/upload-form/read-upload-form.ts';
import { CONTENT_TYPE, chunksOf, FIELD, FILE, formOf, type Part, readForm, UNSELECTED } from './read-form.ts';

/** A part that has a type but no file name. It is the file, unless another part has a file name; then it is a field. */
const json = (content: string): Part => [
  'Content-Disposition: form-data; name="meta"\r\nContent-Type: a/json',
  content,
];
const META = json('{"a":1}');
const META_AS_FILE = {
  filename: undefined,
  contentType: 'a/json',
  content: Buffer.from(META[1]),
  stored: 1,
  discarded: 0,
};
const NAMED = { filename: 'a.txt', content: Buffer.from(FILE[1]), stored: 1, discarded: 0 };

describe.each([
  ['at once', 10_000_000],
  ['in single bytes', 1],
  ['in chunks of 7 bytes', 7],
])('sent %s, a typed part without a file name', (_, size) => {
  const read = (...parts: Part[]) => readForm(chunksOf(formOf(...parts), size));

  test.each<[string, Part[]]>([
    ['before the file', [META, FILE]],
    ['after the file', [FILE, META]],
    ['on both sides of the file', [META, FILE, META]],
    ['twice before the file', [META, META, FILE]],
    ['without content before the file', [json(''), FILE]],
    ['among fields and unselected inputs', [FIELD, META, UNSELECTED, FIELD, FILE, UNSELECTED, META]],
  ])('is a field %s', async (__, parts) => {
    expect(await read(...parts)).toMatchObject(NAMED);
  });

  test.each<[string, Part[]]>([
    ['alone', [META]],
    ['after a field', [FIELD, META]],
    ['before fields', [META, FIELD, FIELD]],
    ['beside unselected inputs', [UNSELECTED, META, UNSELECTED]],
  ])('is the file %s', async (__, parts) => {
    expect(await read(...parts)).toMatchObject(META_AS_FILE);
  });

  test('is the file even without content', async () => {
    expect(await read(FIELD, json(''))).toMatchObject({ ...META_AS_FILE, content: Buffer.alloc(0) });
  });

  test('is refused beside another typed part without a file name, and neither is stored', async () => {
    const refused = { error: 'invalid_request', stored: 0, discarded: 0 };
    expect(await read(META, META)).toEqual(refused);
    expect(await read(META, FIELD, json(''), META)).toEqual(refused);
  });

  test('does not change that a form with two named files is refused', async () => {
    const refused = { error: 'invalid_request', stored: 1, discarded: 1 };
    expect(await read(META, FILE, FILE)).toEqual(refused);
    expect(await read(FILE, META, FILE)).toEqual(refused);
  });
});

describe('a typed part without a file name that is as large as all fields may be', () => {
  /** The length of the part's content with which everything in the form besides the file is exactly as long as it may be. */
  const room = (...parts: readonly Part[]) =>
    MULTIPART_FRAMING_MAX_BYTES - formOf(...parts).length + (parts.includes(FILE) ? FILE[1].length : 0);
  const read = (...parts: Part[]) => readForm(chunksOf(formOf(...parts), 65_536));
  const sized = (bytes: number) => json('x'.repeat(bytes));

  test('is a field before or after the file, and with one more byte the form is refused', async () => {
    const bytes = room(json(''), FILE);
    expect(await read(sized(bytes), FILE)).toMatchObject(NAMED);
    expect(await read(FILE, sized(bytes))).toMatchObject(NAMED);
    // The last byte of the form is the one too many, so the file was stored before.
    const refused = { error: 'invalid_request', stored: 1, discarded: 1 };
    expect(await read(sized(bytes + 1), FILE)).toEqual(refused);
    expect(await read(FILE, sized(bytes + 1))).toEqual(refused);
  });

  test.each([-200, -1, 0, 1, 200, 100_000, 3_000_000])(
    'is the file of a form without a named file, with %i bytes more than fields may have',
    async (more) => {
      const part = sized(room(json('')) + more);
      const expected = { ...META_AS_FILE, content: Buffer.from(part[1]) };
      expect(await read(part)).toMatchObject(expected);
      expect(await read(part, FIELD)).toMatchObject(expected);
      expect(await read(FIELD, part)).toMatchObject(expected);
    },
  );

  test('does not count as a field when it is the file: the fields keep their whole allowance', async () => {
    const field: Part = [FIELD[0], 'x'.repeat(room(FIELD, json('')) + FIELD[1].length)];
    const half = sized(MULTIPART_FRAMING_MAX_BYTES / 2);
    const expected = { ...META_AS_FILE, content: Buffer.from(half[1]) };
    expect(await read(half, field)).toMatchObject(expected);
    expect(await read(field, half)).toMatchObject(expected);
    expect(await read(half, [field[0], `${field[1]}x`])).toMatchObject({ error: 'invalid_request' });
  });
});

test('a typed part without a file name that is larger than all fields may be is refused beside a named file or another such part', async () => {
  const large = json('x'.repeat(MULTIPART_FRAMING_MAX_BYTES));
  for (const parts of [
    [large, FILE],
    [large, META],
    [META, large],
    [FILE, large],
  ]) {
    const reading = await readForm(chunksOf(formOf(...parts), 65_536));
    expect(reading.error).toBe('invalid_request');
    expect(reading.discarded).toBe(reading.stored);
  }
});

describe('a part that is held in memory', () => {
  const small = formOf(META, FIELD);
  const large = formOf(json('x'.repeat(3 * MULTIPART_FRAMING_MAX_BYTES)));

  test.each([
    ['a small one', small, 1],
    ['one in chunks', small, 7],
    ['a large one', large, 65_536],
  ])('may be left unread after its first piece: %s', async (_, body, size) => {
    const onFile = async (file: FilePart) => {
      for await (const _piece of file.body) break;
      return 'left';
    };
    expect(await readUploadForm(chunksOf(body, size), CONTENT_TYPE, { onFile, discard: async () => {} })).toBe('left');
  });

  test('is never passed on in an empty piece', async () => {
    const onFile = async ({ body }: FilePart) => (await Array.fromAsync(body)).map(({ length }) => length);
    const lengthsOf = (body: Buffer, size: number) =>
      readUploadForm(chunksOf(body, size), CONTENT_TYPE, { onFile, discard: async () => {} });
    expect(await lengthsOf(formOf(json('')), 5)).toEqual([]);
    expect(await lengthsOf(small, 5)).toEqual([META[1].length]);
    expect(Math.min(...(await lengthsOf(large, large.length)))).toBeGreaterThan(0);
  });

  test('is not larger than the allowance; longer content is read piece by piece', async () => {
    let pulled = 0;
    async function* source() {
      for await (const chunk of chunksOf(large, 65_536)) {
        pulled += chunk.length;
        yield chunk;
      }
    }
    let pulledFirst = 0;
    const onFile = async ({ body }: FilePart) => {
      for await (const _piece of body) pulledFirst ||= pulled;
    };
    await readUploadForm(source(), CONTENT_TYPE, { onFile, discard: async () => {} });
    expect(pulledFirst).toBeLessThanOrEqual(MULTIPART_FRAMING_MAX_BYTES + 65_536);
    expect(pulled).toBe(large.length);
  });

  test('is dropped when onFile fails, and the form is rejected with the error of onFile', async () => {
    const onFile = () => Promise.reject(new Error('not stored'));
    const discard = () => Promise.reject(new Error('discarded'));
    const reading = readUploadForm(chunksOf(small), CONTENT_TYPE, { onFile, discard });
    await expect(reading).rejects.toThrow('not stored');
  });
});

test.each([
  ['that is a field in the end', formOf(META, FILE, FIELD)],
  ['that is the file in the end', formOf(FIELD, META, FIELD)],
])('a body with a typed part without a name %s, cut at any byte, is refused and leaves nothing', async (_, body) => {
  const closedAt = body.lastIndexOf('--B--') + '--B--'.length;
  for (const size of [1, body.length]) {
    for (let length = 0; length < closedAt; length++) {
      const reading = await readForm(chunksOf(body.subarray(0, length), size));
      expect({ length, ...reading }).toEqual({
        length,
        error: 'invalid_request',
        stored: reading.stored,
        discarded: reading.stored,
      });
      if (!body.includes('filename')) expect(reading.stored).toBe(0);
    }
  }
});
