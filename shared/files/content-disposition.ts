import { isInline } from './media-type.ts';

/** What `encodeURIComponent` leaves alone although RFC 8187 (`attr-char`) does not. */
const NOT_ATTR_CHAR = /['()*]/g;

/**
 * The `Content-Disposition` a file is served with (RFC 6266): `inline` for the types of `isInline`, else `attachment`,
 * and the name twice, in ASCII for old clients and in UTF-8 (RFC 8187) for all others.
 * @param name  any string; a lone surrogate becomes U+FFFD.
 * @returns printable ASCII, always well-formed.
 */
export function contentDisposition(name: string, mimeType: string): string {
  const type = isInline(mimeType) ? 'inline' : 'attachment';
  return `${type}; filename="${asciiName(name)}"; filename*=UTF-8''${extendedValue(name)}`;
}

/**
 * Accents go, the rest becomes `_`: so do `"` and `\`, which many clients cannot unescape, `%`, which some decode
 * (RFC 6266, appendix D), and `/`. Of a name of nothing but accents `_` is left.
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
