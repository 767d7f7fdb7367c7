import { isUtf8 } from 'node:buffer';
import { invalidForm } from './invalid-form.ts';

/**
 * The headers of a part by lower-cased name, in the order they came; of two with one name the first counts. A Map,
 * because a header may well be called `__proto__`.
 *
 * Lines end in CRLF alone, so a bare CR or LF in a file name opens no new header. A line that begins with white space
 * goes on with the one before it (RFC 5322, section 2.2.3).
 * @throws ApiError `invalid_request` for a line that is neither.
 */
export function partHeaders(block: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  if (block.length === 0) return headers;
  const lines = decoded(block)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  for (const line of lines) {
    const [, name, value] = /^([^\s:]+)[ \t]*:(.*)$/s.exec(line) ?? [];
    if (name === undefined || value === undefined) throw invalidForm('a part has a line that is no header');
    const key = name.toLowerCase();
    if (!headers.has(key)) headers.set(key, value.trim());
  }
  return headers;
}

/**
 * Clients write headers in UTF-8, or in Latin-1 (Apache HttpClient unless it is told otherwise), of which windows-1252 has
 * every character. Text in Latin-1 is hardly ever valid UTF-8. A client has one charset, so the block is one text.
 */
function decoded(block: Buffer): string {
  return isUtf8(block) ? block.toString('utf8') : new TextDecoder('windows-1252').decode(block);
}
