import { expect, test } from 'vitest';
import { chunksOf, disposition, FIELD, formOf, readForm } from './read-form.ts';

/** Fields around the file, a preamble, and content that looks like delimiters. */
const FORM = formOf(FIELD, [disposition('; filename="a.txt"'), 'one\r\n--\r\n--Bx\r\n'], FIELD);
const BODY = Buffer.concat([Buffer.from('preamble\r\n'), FORM]);
const CLOSED_AT = BODY.lastIndexOf('--B--') + '--B--'.length;
const FILE_ENDS_AT = BODY.lastIndexOf('\r\n--B\r\n');

test.each([
  ['at once', BODY.length],
  ['in single bytes', 1],
  ['in chunks of 7 bytes', 7],
])('a body cut at any byte before the end of its closing delimiter is refused, sent %s', async (_, size) => {
  for (let length = 0; length < CLOSED_AT; length++) {
    const reading = await readForm(chunksOf(BODY.subarray(0, length), size));
    // The text after the file is a delimiter only because of its line break.
    const stored = length >= FILE_ENDS_AT + '\r\n--B\r\n'.length ? 1 : 0;
    expect({ length, ...reading }).toEqual({ length, error: 'invalid_request', stored, discarded: stored });
  }
});

test('a body cut after its closing delimiter is whole', async () => {
  for (let length = CLOSED_AT; length <= BODY.length; length++) {
    expect(await readForm(chunksOf(BODY.subarray(0, length)))).toMatchObject({ stored: 1, discarded: 0 });
  }
});
