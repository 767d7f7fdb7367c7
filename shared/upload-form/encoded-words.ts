/** One encoded word: charset, perhaps a language, `B` or `Q`, and the text. Source: RFC 2047, section 2; RFC 2231, section 5. */
const WORD = /=\?([^\s?*]+)(?:\*[^\s?]*)?\?([bq])\?([^?]*)\?=/gi;
const ONLY_WORDS = new RegExp(`^(?:${WORD.source}\\s*)+$`, 'i');

/**
 * Decodes a text that consists of encoded words and nothing else, as RestSharp and hand-written .NET headers send a file name that is not
 * ASCII. (RFC 7578 forbids this in a form.)
 * @returns undefined when the text is anything else, has a charset that the platform's decoder does not know, or bytes that are not of the
 *   charset. Then it is a name like any other.
 */
export function decodedWords(text: string): string | undefined {
  const trimmed = text.trim();
  if (!ONLY_WORDS.test(trimmed)) return undefined;
  const words = Array.from(trimmed.matchAll(WORD), ([, charset = '', encoding = '', encoded = '']) =>
    decodedWord(charset, encoding.toLowerCase() === 'b' ? base64Bytes(encoded) : quotedBytes(encoded)),
  );
  return words.some((word) => word === undefined) ? undefined : words.join('');
}

function decodedWord(charset: string, bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined) return undefined;
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    // A RangeError for the charset, or a TypeError for the bytes.
    return undefined;
  }
}

function base64Bytes(encoded: string): Buffer | undefined {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(encoded) ? Buffer.from(encoded, 'base64') : undefined;
}

/** `_` is a space, and `=` with two hex digits is a byte. */
function quotedBytes(encoded: string): Buffer {
  const bytes = encoded
    .replaceAll('_', ' ')
    .replace(/=([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return Buffer.from(bytes, 'latin1');
}
