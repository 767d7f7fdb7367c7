import { describe, expect, test } from 'vitest';
import { capturedUploads, captureFiles } from './captured.ts';
import { chunksOf, readForm } from './read-form.ts';

const captures = capturedUploads();

test('every fixture is in the list of captures', () => {
  expect(captureFiles().sort()).toEqual(captures.map(({ name }) => name).sort());
});

describe.each(captures)('$name', ({ client, version, contentType, body, expected, content }) => {
  test.each([
    ['at once', body.length],
    ['in single bytes', 1],
    ['in chunks of 7 bytes', 7],
  ])(`the form of ${client} ${version} is read %s`, async (_, size) => {
    const reading = await readForm(chunksOf(body, size), contentType);
    if ('error' in expected) {
      expect(reading).toEqual({ error: expected.error, stored: 0, discarded: 0 });
      return;
    }
    expect(reading).toMatchObject({ stored: 1, discarded: 0 });
    expect({ filename: reading.filename ?? null, content: reading.content }).toEqual({ ...expected, content });
  });
});
