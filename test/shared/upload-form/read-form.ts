import { ApiError } from '../../../shared/errors.ts';
import { readUploadForm } from '../../../shared/upload-form/read-upload-form.ts';

/** The result of reading a form: its file, or the code of the error, and what was done with the file before the error. */
export interface Reading {
  readonly filename?: string | undefined;
  readonly contentType?: string | undefined;
  readonly content?: Buffer;
  readonly error?: string;
  /** How often `onFile` resolved, and how often its result was discarded. */
  readonly stored: number;
  readonly discarded: number;
}

const BOUNDARY = 'B';
export const CONTENT_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** The bytes in chunks of one size. */
export async function* chunksOf(bytes: Uint8Array, size = Math.max(1, bytes.length)): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Reads the whole form into memory. Every error but an ApiError is rethrown, and fails the test. */
export async function readForm(source: AsyncIterable<Uint8Array>, contentType = CONTENT_TYPE): Promise<Reading> {
  let stored = 0;
  let discarded = 0;
  try {
    const file = await readUploadForm(source, contentType, {
      async onFile({ filename, contentType, body }) {
        const content = Buffer.concat(await Array.fromAsync(body));
        stored++;
        return { filename, contentType, content };
      },
      async discard() {
        discarded++;
      },
    });
    return { ...file, stored, discarded };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { error: error.code, stored, discarded };
  }
}

/** Header lines and content; each character is a byte. */
export type Part = readonly [headers: string, content: string];

/** The body of a form of these parts. */
export function formOf(...parts: readonly Part[]): Buffer {
  const encoded = parts.map(([headers, content]) => `--${BOUNDARY}\r\n${headers}\r\n\r\n${content}\r\n`);
  return Buffer.from(`${encoded.join('')}--${BOUNDARY}--\r\n`, 'latin1');
}

/** The header line of a part, with more parameters than the name of its field. */
export function disposition(parameters: string): string {
  return `Content-Disposition: form-data; name="file"${parameters}`;
}

/** A file input in which nothing was selected. */
export const UNSELECTED: Part = [`${disposition('; filename=""')}\r\nContent-Type: application/octet-stream`, ''];
/** A part that is a file, and one that is not. */
export const FILE: Part = [disposition('; filename="a.txt"'), 'content'];
export const FIELD: Part = ['Content-Disposition: form-data; name="note"', 'text'];
