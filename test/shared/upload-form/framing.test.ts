import { describe, expect, test } from 'vitest';
import { MULTIPART_FRAMING_MAX_BYTES } from '../../../shared/contract/limits.ts';
import { PART_HEADERS_MAX_BYTES } from '../../../shared/upload-form/form-reader.ts';
import { PARTS_MAX } from '../../../shared/upload-form/read-upload-form.ts';
import { chunksOf, disposition, FIELD, FILE, formOf, readForm } from './read-form.ts';

const OPEN = `--B\r\n${FILE[0]}\r\n\r\n`;
const CLOSE = '\r\n--B--\r\n';

describe.each([
  ['in one piece', 10_000],
  ['in single bytes', 1],
  ['in chunks of 3 bytes', 3],
])('in a form that is sent %s,', (_, size) => {
  const read = (body: string) => readForm(chunksOf(Buffer.from(body, 'latin1'), size));

  test.each([
    ['the content is what is between the empty line and the delimiter', `${OPEN}content${CLOSE}`, 'content'],
    ['the content may be empty', `${OPEN}${CLOSE}`, ''],
    ['the content is empty when the part ends with its headers', `--B\r\n${FILE[0]}\r\n\r\n--B--\r\n`, ''],
    ['the content is found after a preamble', `This is a form.\r\n--Bx\r\n${OPEN}content${CLOSE}`, 'content'],
    ['the content is found after an empty line', `\r\n${OPEN}content${CLOSE}`, 'content'],
    ['the content is found before an epilogue', `${OPEN}content${CLOSE}bye\r\n--B\r\n`, 'content'],
    ['the content is whole when the body ends with the closing delimiter', `${OPEN}content\r\n--B--`, 'content'],
    ['the content is whole when the body ends in padding', `${OPEN}content\r\n--B-- \t`, 'content'],
    ['the content is whole when the body ends within the last line break', `${OPEN}content\r\n--B--\r`, 'content'],
    [
      'the content is found between delimiters with padding',
      `--B \t \r\n${FILE[0]}\r\n\r\ncontent\r\n--B-- \t\r\n`,
      'content',
    ],
    [
      'the content may begin and end with line breaks',
      `${OPEN}\r\n\r\ncontent\r\n\r\n${CLOSE}`,
      '\r\n\r\ncontent\r\n\r\n',
    ],
    ['the content may end in a CR alone', `${OPEN}content\r${CLOSE}`, 'content\r'],
    [
      'the content may contain what is almost a delimiter',
      `${OPEN}\r\n--\r\n-\r\n--A\r\n--b\r\n--${CLOSE}`,
      '\r\n--\r\n-\r\n--A\r\n--b\r\n--',
    ],
    [
      'the content may contain a boundary with other characters after it',
      `${OPEN}a\r\n--Bx\r\n--B-\r\n--B--x\r\n--B x${CLOSE}`,
      'a\r\n--Bx\r\n--B-\r\n--B--x\r\n--B x',
    ],
    [
      'the content may contain a boundary on a line that begins or ends in CR or LF alone',
      `${OPEN}a\r\n--B\nb\r\n--B\rc\n--B\r\n${CLOSE}`,
      'a\r\n--B\nb\r\n--B\rc\n--B\r\n',
    ],
    [
      'the content may contain a boundary that is not at the beginning of a line',
      `${OPEN}a--B\r\n${CLOSE}`,
      'a--B\r\n',
    ],
  ])('%s', async (__, body, content) => {
    expect(await read(body)).toMatchObject({ content: Buffer.from(content, 'latin1'), stored: 1, discarded: 0 });
  });

  test.each([
    ['nothing in it', ''],
    ['no delimiter', 'content'],
    ['another boundary', `${OPEN}content${CLOSE}`.replaceAll('--B', '--C')],
    ['LF for line breaks', `${OPEN}content${CLOSE}`.replaceAll('\r\n', '\n')],
    ['nothing but the closing delimiter', '--B--\r\n'],
    ['no closing delimiter at its end', `${OPEN}content\r\n--B\r\n`],
  ])('a body with %s is refused', async (__, body) => {
    expect(await read(body)).toMatchObject({ error: 'invalid_request' });
  });
});

describe('a form', () => {
  /** A form with this many bytes besides the file; padding makes up the number. */
  const withFraming = (bytes: number, parts: (padding: string) => Buffer) => {
    const least = parts('').length - FILE[1].length;
    return parts('x'.repeat(bytes - least));
  };

  test.each([
    ['a field before the file', (padding: string) => formOf([FIELD[0], padding], FILE)],
    ['a field after the file', (padding: string) => formOf(FILE, [FIELD[0], padding])],
    ['the preamble', (padding: string) => Buffer.concat([Buffer.from(`${padding}\r\n`), formOf(FILE)])],
    ['the epilogue', (padding: string) => Buffer.concat([formOf(FILE), Buffer.from(padding)])],
  ])('may hold MULTIPART_FRAMING_MAX_BYTES besides the file, and no byte more, in %s', async (_, parts) => {
    const fits = withFraming(MULTIPART_FRAMING_MAX_BYTES, parts);
    expect(await readForm(chunksOf(fits, 65_536))).toMatchObject({ content: Buffer.from(FILE[1]) });
    const exceeds = withFraming(MULTIPART_FRAMING_MAX_BYTES + 1, parts);
    const reading = await readForm(chunksOf(exceeds, 65_536));
    expect(reading.error).toBe('invalid_request');
    expect(reading.discarded).toBe(reading.stored);
  });

  test('is not limited in the size of its file', async () => {
    const content = 'x'.repeat(2 * MULTIPART_FRAMING_MAX_BYTES);
    const { content: read } = await readForm(chunksOf(formOf([FILE[0], content]), 65_536));
    expect(read?.length).toBe(content.length);
  });

  test.each([
    [PART_HEADERS_MAX_BYTES - 1, 'read', undefined],
    [PART_HEADERS_MAX_BYTES, 'read', undefined],
    [PART_HEADERS_MAX_BYTES + 1, 'refused', 'invalid_request'],
  ])('a form with a part of %i bytes of headers is %s', async (bytes, _outcome, error) => {
    const least = `${disposition('; filename=""')}\r\n`.length;
    const body = formOf([disposition(`; filename="${'x'.repeat(bytes - least)}"`), 'content']);
    for (const size of [body.length, 1]) expect((await readForm(chunksOf(body, size))).error).toBe(error);
  });

  test.each([
    [PARTS_MAX - 1, 'read', undefined],
    [PARTS_MAX, 'read', undefined],
    [PARTS_MAX + 1, 'refused', 'invalid_request'],
  ])('a form of %i parts is %s', async (parts, _outcome, error) => {
    const body = formOf(...Array.from({ length: parts - 1 }, () => FIELD), FILE);
    expect((await readForm(chunksOf(body))).error).toBe(error);
  });
});
