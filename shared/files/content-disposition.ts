import { isInline } from './media-type.ts';

/** RFC 8187 (`attr-char`) does not allow these characters, but `encodeURIComponent` does not encode them. */
const NOT_ATTR_CHAR = /['()*]/g;

/**
 * The `Content-Disposition` that a file is served with (RFC 6266). Its type is `inline` or `attachment`, as {@link isInline} says. It has
 * the name twice: in ASCII for old clients, and in UTF-8 (RFC 8187) for all others.
 * @param name  any string; a lone surrogate becomes U+FFFD.
 * @returns printable ASCII, always well-formed.
 */
export function contentDisposition(name: string, mimeType: string): string {
  const type = isInline(mimeType) ? 'inline' : 'attachment';
  return `${type}; filename="${asciiName(name)}"; filename*=UTF-8''${extendedValue(name)}`;
}

/**
 * Removes accents. A name that has only accents becomes `_`. These characters are replaced by `_`, too:
 * - all that are not printable ASCII;
 * - `"` and `\`, because many clients cannot unescape them;
 * - `%`, because some clients decode it (RFC 6266, appendix D);
 * - `/`.
 */
function asciiName(name: string): string {
  const ascii = name
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .replace(/[^ -~]|["\\%/]/gu, '_');
  return ascii || '_';
}

function extendedValue(name: string): string {
  const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(name.toWellFormed()).replace(NOT_ATTR_CHAR, percent);
}
