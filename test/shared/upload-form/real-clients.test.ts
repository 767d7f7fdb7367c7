import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Expectation, readCases } from './fixtures/capture/cases.ts';
import { chunksOf, readForm } from './read-form.ts';

/** Bytes of real clients; see capture/capture.ts for how they came here. */
const FIXTURES = join(import.meta.dirname, 'fixtures');

interface Capture {
  readonly client: string;
  readonly version: string;
  readonly case: string;
  readonly expected: Expectation;
}

const captures = Object.entries(
  JSON.parse(readFileSync(join(FIXTURES, 'captured.json'), 'utf8')) as Record<string, Capture>,
);
const cases = readCases();

/** The value of Content-Type, an empty line, the body. */
function fixture(name: string): { contentType: string; body: Buffer } {
  const bytes = readFileSync(join(FIXTURES, `${name}.http`));
  const end = bytes.indexOf('\r\n\r\n');
  return { contentType: bytes.toString('latin1', 0, end), body: bytes.subarray(end + 4) };
}

test('every fixture is in the list of captures', () => {
  const files = readdirSync(FIXTURES).flatMap((file) => (file.endsWith('.http') ? file.slice(0, -'.http'.length) : []));
  expect(files.sort()).toEqual(captures.map(([name]) => name).sort());
});

describe.each(captures)('%s', (name, { client, version, case: caseName, expected }) => {
  const { contentType, body } = fixture(name);
  const content = Buffer.from(cases.find((one) => one.case === caseName)?.content ?? cases[0]?.content ?? '', 'latin1');

  test.each([
    ['at once', body.length],
    ['in single bytes', 1],
    ['in chunks of 7 bytes', 7],
  ])(`of ${client} ${version} is read %s`, async (_, size) => {
    const reading = await readForm(chunksOf(body, size), contentType);
    if ('error' in expected) {
      expect(reading).toEqual({ error: expected.error, stored: 0, discarded: 0 });
      return;
    }
    expect(reading).toMatchObject({ stored: 1, discarded: 0 });
    expect({ filename: reading.filename ?? null, content: reading.content }).toEqual({ ...expected, content });
  });
});
