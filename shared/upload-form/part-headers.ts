import { invalidForm } from './invalid-form.ts';

/**
 * The headers of a part by lower-cased name, in the order they came; of two with one name the first counts. A Map,
 * because a header may well be called `__proto__`.
 *
 * Lines end in CRLF alone, so a bare CR or LF in a file name opens no new header. A line that begins with white space
 * goes on with the one before it (RFC 5322, section 2.2.3). Bytes that are not UTF-8 become U+FFFD.
 * @throws ApiError `invalid_request` for a line that is neither.
 */
export function partHeaders(block: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  if (block.length === 0) return headers;
  for (const line of block
    .toString('utf8')
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')) {
    const [, name, value] = /^([^\s:]+)[ \t]*:(.*)$/s.exec(line) ?? [];
    if (name === undefined || value === undefined) throw invalidForm('a part has a line that is no header');
    const key = name.toLowerCase();
    if (!headers.has(key)) headers.set(key, value.trim());
  }
  return headers;
}
