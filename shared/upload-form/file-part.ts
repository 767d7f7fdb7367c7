import { isUtf8 } from 'node:buffer';
import { decodedWords } from './encoded-words.ts';
import { invalidForm } from './form-reader.ts';
import { headerParameters } from './header-parameters.ts';

/** What a file part says about its file. */
export interface FileDescription {
  /** Decoded but not cleaned: it may hold a path, control characters, anything. Undefined when the client sent none. */
  readonly filename: string | undefined;
  /** As the client sent it, not checked. */
  readonly contentType: string | undefined;
}

/** A part that may be the file of its form. */
export interface PartDescription extends FileDescription {
  /** True when its bytes are an encoding of the file, such as base64. */
  readonly isEncoded: boolean;
}

/**
 * Describes a part that may be a file; undefined for a plain field. A part may be a file if it has `filename` or `filename*`,
 * even empty, or a `Content-Type` other than `text/plain`.
 * @throws ApiError `invalid_request` for `multipart/mixed`, the old way to send several files as one part (RFC 7578, section
 *   4.3): they would be stored as one file, or be lost as a field.
 */
export function describePart(headers: Map<string, string>, boundary: string): PartDescription | undefined {
  const disposition = headerParameters(headers.get('content-disposition') ?? '');
  const contentType = headers.get('content-type') || undefined;
  const isNamed = disposition.has('filename') || disposition.has('filename*');
  if (!isNamed && (contentType === undefined || isOfType('text/plain', contentType))) return undefined;
  if (isOfType('multipart/mixed', contentType)) throw invalidForm('a part is a form of its own');
  return {
    filename: isNamed ? clientFileName(disposition, nameEncoder(headers, boundary)) : undefined,
    contentType,
    isEncoded: isEncoded(headers),
  };
}

/**
 * The headers of a part by name in lower case, in the order they came. If a name is repeated, its first header counts. The result is a Map,
 * because a client can call a header `__proto__`.
 *
 * Lines end only in CRLF, so a bare CR or LF in a file name begins no new header. A line that begins with white space
 * continues the line before it (RFC 5322, section 2.2.3).
 * @throws ApiError `invalid_request` for a line that is not a header.
 */
export function partHeaders(block: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  if (block.length === 0) return headers;
  const lines = decoded(block)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  for (const line of lines) {
    const [, name, value] = /^([^\s:]+)[ \t]*:(.*)$/s.exec(line) ?? [];
    if (name === undefined || value === undefined) throw invalidForm('a part has a line that is not a header');
    const key = name.toLowerCase();
    if (!headers.has(key)) headers.set(key, value.trim());
  }
  return headers;
}

/**
 * Clients write headers in UTF-8, or in Latin-1 (Apache HttpClient by default), which is decoded as windows-1252. Text in
 * Latin-1 is hardly ever valid UTF-8. A client uses one charset, so the whole block is decoded in one go.
 */
function decoded(block: Buffer): string {
  return isUtf8(block) ? block.toString('utf8') : new TextDecoder('windows-1252').decode(block);
}

function isOfType(type: string, contentType: string | undefined): boolean {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === type;
}

/**
 * True for the encodings that RFC 7578, section 4.7, deprecates. Any other value (`binary`, `8bit`, `7bit`) means that the
 * bytes are those of the file.
 */
function isEncoded(headers: Map<string, string>): boolean {
  if (/^(?:base64|quoted-printable)$/i.test(headers.get('content-transfer-encoding') ?? '')) return true;
  return !/^(?:identity)?$/i.test(headers.get('content-encoding') ?? '');
}

/** The 32 hex digits of a random UUID, version 4. */
const UUID_BOUNDARY = /^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/;
/** Source: needle 3.5.0, needle.js. */
const NEEDLE_BOUNDARY = '--------------------NODENEEDLEHTTPCLIENT';

/**
 * How the client percent-encodes the whole of `filename`; undefined when it does not. The value alone cannot tell: a browser
 * sends the name `a%20b.txt` as it is. But two clients can be recognised:
 * - needle by its boundary, which is always the same;
 * - aiohttp: no other client that we know both has a random UUID as its boundary and sends `Content-Type` before `Content-Disposition`.
 *   Source: aiohttp 3.14.5, multipart.py and helpers.py.
 */
function nameEncoder(headers: Map<string, string>, boundary: string): NameEncoder | undefined {
  if (boundary === NEEDLE_BOUNDARY) return encodeURIComponent;
  const order = [...headers.keys()].filter((name) => name === 'content-type' || name === 'content-disposition');
  return UUID_BOUNDARY.test(boundary) && order[0] === 'content-type' ? encodeAllButUnreserved : undefined;
}

/** Encodes as Python's `urllib.parse.quote(name, safe='')`. */
function encodeAllButUnreserved(name: string): string {
  return encodeURIComponent(name).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** RFC 8187, section 3.2: charset, language, value. */
const EXTENDED_VALUE = /^(utf-8|iso-8859-1)'[^']*'(.*)$/is;

/** How browsers write the three characters that a quoted name may not contain (WHATWG HTML, multipart/form-data). */
const BROWSER_ESCAPES: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };

/** Percent-encodes a whole name in the way of one client. */
type NameEncoder = (name: string) => string;

/**
 * The file name of a part, as the client meant it: `filename*` wins over `filename`, unless `filename*` is empty or in a charset that RFC
 * 8187 does not know. In `filename` encoded words (RFC 2047) are decoded, and the escapes of browsers: any other `%` is part of the name.
 * @param encoder  how the client percent-encodes the whole of `filename`, if it is known to do that.
 */
function clientFileName(parameters: Map<string, string>, encoder: NameEncoder | undefined): string {
  const extended = extendedValue(parameters.get('filename*') ?? '');
  // Apache HttpClient 5.5, in its extended mode, encodes a name that it has already encoded. WebApiClient encodes the quotes as well.
  if (extended) return extendedValue(extended) ?? (/^"(.+)"$/s.exec(extended)?.[1] || extended);
  const plain = parameters.get('filename') ?? '';
  const words = decodedWords(plain);
  if (words !== undefined) return words;
  if (encoder) return decodedName(plain, encoder);
  return plain.replace(/%(?:22|0D|0A)/g, (code) => BROWSER_ESCAPES[code] ?? code);
}

/**
 * Decodes a name if the client has encoded it. To find that out, the function encodes the decoded name in the client's way, and compares
 * the two texts. (aiohttp encodes by default, but not with `quote_fields=False`. A name with a character that aiohttp would have encoded,
 * such as a space, was not encoded. A name like `a%20b.txt` may be encoded or not. It is decoded, because aiohttp encodes by default.)
 */
function decodedName(text: string, encoder: NameEncoder): string {
  const name = percentDecoded(text, 'utf8');
  return encoder(name) === text ? name : text;
}

function extendedValue(text: string): string | undefined {
  const [, charset, value] = EXTENDED_VALUE.exec(text) ?? [];
  if (charset === undefined || value === undefined) return undefined;
  return percentDecoded(value, charset.toLowerCase() === 'utf-8' ? 'utf8' : 'latin1');
}

/** Decodes `%` and two hex digits; any other `%` stays. Bytes that are not UTF-8 become U+FFFD. */
function percentDecoded(text: string, charset: 'utf8' | 'latin1'): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString(charset));
}
