import type { Description } from './content.ts';

/**
 * The parts of a form before and after the bytes of the file. The whole name is percent-encoded (RFC 8187), so that every character of the
 * name arrives unchanged, even `%`, quotes and line breaks. A file without name and bytes would be a field in which nobody chose a file. The
 * service replaces the name `.`, as it does a missing one.
 */
export function formAround({ name = '', type }: Description, idempotencyKey: string) {
  const boundary = `file-${randomText()}`;
  const encoded = encodeURIComponent((name || '.').toWellFormed()).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const encoder = new TextEncoder();
  return {
    head: encoder.encode(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename=""; filename*=UTF-8''${encoded}\r\nContent-Type: ${type}\r\n\r\n`,
    ),
    tail: encoder.encode(`\r\n--${boundary}--\r\n`),
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}`, 'Idempotency-Key': idempotencyKey },
  };
}

/** A text that nobody else has. */
export const randomText = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');
