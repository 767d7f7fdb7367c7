/** RFC 8187, section 3.2: charset, language, value. */
const EXTENDED_VALUE = /^(utf-8|iso-8859-1)'[^']*'(.*)$/is;

/** What browsers make of the three characters they may not send in a quoted name (WHATWG HTML, multipart/form-data). */
const BROWSER_ESCAPES: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };

/** Percent-encodes a whole name as a certain client does. */
export type NameEncoder = (name: string) => string;

/**
 * The file name of a part, as the client meant it: `filename*` wins over `filename`, unless it is empty or in a charset
 * that RFC 8187 does not know. In `filename` only what browsers escape is decoded, because any other `%` is theirs.
 * @param encoder  how the client percent-encodes the whole of `filename`, if it is known to do so.
 */
export function clientFileName(parameters: Map<string, string>, encoder: NameEncoder | undefined): string {
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
