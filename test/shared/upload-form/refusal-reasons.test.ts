import { expect, test } from 'vitest';
import { formBoundary } from '../../../shared/upload-form/form-reader.ts';
import { readUploadForm } from '../../../shared/upload-form/read-upload-form.ts';
import { CONTENT_TYPE, chunksOf, disposition, FIELD, FILE, formOf, type Part } from './read-form.ts';

/** The reason in the log for a refused form. Its client gets only the code. */

const TYPED: Part = [`${disposition('')}\r\nContent-Type: a/b`, 'content'];
const handler = { onFile: async () => undefined, discard: async () => {} };
const read = (source: AsyncIterable<Uint8Array>) => readUploadForm(source, CONTENT_TYPE, handler);

test.each<[reason: string, form: Buffer]>([
  ['the form has no file part', formOf(FIELD)],
  ['the form has two file parts', formOf(FILE, FILE)],
  ['the form has two file parts', formOf(TYPED, TYPED)],
  ['the form has too many parts', formOf(...Array.from({ length: 1_001 }, () => FIELD))],
  ['the form holds too much besides the file', formOf([FIELD[0], 'x'.repeat(2_000_000)], FILE)],
  ['the content of the file part is encoded', formOf([`${FILE[0]}\r\nContent-Transfer-Encoding: base64`, 'YQ=='])],
  ['a part is a form of its own', formOf([`${FILE[0]}\r\nContent-Type: multipart/mixed`, ''])],
  ['a part has a line that is not a header', formOf([`${FILE[0]}\r\nno header`, ''])],
  ['the headers of a part are too long, or do not end', formOf([`${FILE[0]}\r\nX: ${'x'.repeat(20_000)}`, ''])],
  ['the body ends before its last delimiter', formOf(FILE).subarray(0, -10)],
])('the log says that %s', async (reason, form) => {
  await expect(read(chunksOf(form, 65_536))).rejects.toMatchObject({ code: 'invalid_request', message: reason });
});

test('the log says that the body broke off, and why', async () => {
  const cause = new Error('aborted');
  async function* broken() {
    yield formOf(FILE).subarray(0, 20);
    throw cause;
  }
  await expect(read(broken())).rejects.toMatchObject({ message: 'the body broke off', cause });
});

test.each([
  ['a form without a Content-Type', undefined, 'unsupported_media_type', 'the body is not multipart/form-data'],
  ['a form of another Content-Type', 'text/plain', 'unsupported_media_type', 'the body is not multipart/form-data'],
  ['a form without a boundary', 'multipart/form-data', 'invalid_request', 'the Content-Type has no legal boundary'],
])('the log says why %s is refused', (_name, contentType, code, message) => {
  expect(() => formBoundary(contentType)).toThrow(expect.objectContaining({ code, message }));
});
