import { isUtf8 } from 'node:buffer';
import { invalidForm } from './form-reader.ts';
import { headerParameters } from './header-parameters.ts';

/** RFC 8187, section 3.2: charset, language, value. */
const EXTENDED_VALUE = /^(utf-8|iso-8859-1)'[^']*'(.*)$/is;

/** What browsers make of the three characters they may not send in a quoted name (WHATWG HTML, multipart/form-data). */
const BROWSER_ESCAPES: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };

/** Percent-encodes a whole name as a certain client does. */
type NameEncoder = (name: string) => string;

/**
 * The file name of a part, as the client meant it: `filename*` wins over `filename`, unless it is empty or in a charset
 * that RFC 8187 does not know. In `filename` only what browsers escape is decoded, because any other `%` is theirs.
 * @param encoder  how the client percent-encodes the whole of `filename`, if it is known to do so.
 */
function clientFileName(parameters: Map<string, string>, encoder: NameEncoder | undefined): string {
  const extended = extendedValue(parameters.get('filename*') ?? '');
  // Apache HttpClient 5.5, in its extended mode, encodes a name that it has already encoded.
  if (extended) return extendedValue(extended) ?? extended;
  const plain = parameters.get('filename') ?? '';
  if (encoder) return decodedName(plain, encoder);
  return plain.replace(/%(?:22|0D|0A)/g, (code) => BROWSER_ESCAPES[code] ?? code);
}

/**
 * A name that its client can have encoded so, decoded; any other name came as it is: aiohttp with `quote_fields=False`
 * encodes nothing, which shows in the first character that it would have encoded. A name like `a%20b.txt` does not show
 * it; it is taken for an encoded one, because that is what aiohttp sends unless it is told otherwise.
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

/** A `%` without two hex digits stays as it is; bytes that are not UTF-8 become U+FFFD. */
function percentDecoded(text: string, charset: 'utf8' | 'latin1'): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString(charset));
}

/** What a file part says of its file. */
export interface FileDescription {
  /** Decoded, as the client sent it: it may hold a path, control characters, anything. Absent when it sent none. */
  readonly filename: string | undefined;
  /** As the client sent it, not checked. */
  readonly contentType: string | undefined;
}

/** A part that may be the file of its form. */
export interface PartDescription extends FileDescription {
  /** Whether its bytes are not those of the file, but an encoding of them. */
  readonly isEncoded: boolean;
}

/**
 * What a part says that may be a file; undefined when it is a plain field. It may be a file with `filename` or `filename*`,
 * even empty, or with a `Content-Type` other than `text/plain`.
 * @throws ApiError `invalid_request` for `multipart/mixed`, the old way to send several files as one part (RFC 7578, 4.3):
 * they would be stored as one file, or be lost as a field.
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

function isOfType(type: string, contentType: string | undefined): boolean {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === type;
}

/**
 * RFC 7578, section 4.7, deprecates both encodings, and they cannot be told from a file that happens to look like one. Any
 * other value (`binary`, `8bit`, `7bit`) means the bytes as they are.
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
 * How the client that sent the part percent-encodes all of `filename`; undefined when it does not. A browser sends a file
 * called `a%20b.txt` as such, so the value alone cannot tell, but two clients can be known:
 * - needle by its boundary, which is always the same;
 * - aiohttp, because no other client known to us both has a random UUID for its boundary and puts `Content-Type` before
 *   `Content-Disposition`. Source: aiohttp 3.14.5, multipart.py and helpers.py.
 */
function nameEncoder(headers: Map<string, string>, boundary: string): NameEncoder | undefined {
  if (boundary === NEEDLE_BOUNDARY) return encodeURIComponent;
  const order = [...headers.keys()].filter((name) => name === 'content-type' || name === 'content-disposition');
  return UUID_BOUNDARY.test(boundary) && order[0] === 'content-type' ? encodeAllButUnreserved : undefined;
}

/** As Python's `urllib.parse.quote` with nothing declared safe. */
function encodeAllButUnreserved(name: string): string {
  return encodeURIComponent(name).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

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
