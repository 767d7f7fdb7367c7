import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Expectation, readCases } from './fixtures/capture/cases.ts';

/**
 * The upload of a real client, byte for byte, as fixtures/capture/capture.ts has recorded it. The uploads of two clients are not recorded,
 * but follow their source code (fixtures/capture/written-by-hand.ts).
 */
export interface CapturedUpload {
  readonly name: string;
  readonly client: string;
  readonly version: string;
  readonly case: string;
  /** The value of the request's Content-Type. */
  readonly contentType: string;
  readonly body: Buffer;
  /** What the parser should read: the name that the user wanted, or what the client makes of that name. */
  readonly expected: Expectation;
  /** The content that the user wanted to upload. */
  readonly content: Buffer;
}

const FIXTURES = join(import.meta.dirname, 'fixtures');

/** Every capture of the list. */
export function capturedUploads(): CapturedUpload[] {
  const list = JSON.parse(readFileSync(join(FIXTURES, 'captured.json'), 'utf8')) as Record<
    string,
    Pick<CapturedUpload, 'client' | 'version' | 'case' | 'expected'>
  >;
  const cases = readCases();
  return Object.entries(list).map(([name, captured]) => {
    const bytes = readFileSync(join(FIXTURES, `${name}.http`));
    const end = bytes.indexOf('\r\n\r\n');
    const content = cases.find((one) => one.case === captured.case)?.content ?? cases[0]?.content ?? '';
    return {
      ...captured,
      name,
      contentType: bytes.toString('latin1', 0, end),
      body: bytes.subarray(end + 4),
      content: Buffer.from(content, 'latin1'),
    };
  });
}

/** The names of the captures whose bytes are there. */
export function captureFiles(): string[] {
  return readdirSync(FIXTURES).flatMap((file) => (file.endsWith('.http') ? file.slice(0, -'.http'.length) : []));
}
