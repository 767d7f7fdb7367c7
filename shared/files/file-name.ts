import { FILE_NAME_MAX_BYTES } from '../contract/limits.ts';
import { extensionOf } from './media-type.ts';

/** Control characters, line and paragraph separators, marks that turn the direction of text, and the byte order mark. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\uFEFF]/gu;

/**
 * A character that a reader can see: no white space, format mark or filler. A dot does not count, because a dot alone is not a
 * name.
 */
const VISIBLE = /[^.\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * A name of more UTF-16 code units than {@link HEAD_LENGTH} and {@link TAIL_LENGTH} together is cut before it is normalised: only these
 * units of its beginning and its end are kept. Otherwise a run of accents would take quadratic time: 64 KB of them took seconds. The units
 * in between cannot be part of the result, because the result has at most {@link FILE_NAME_MAX_BYTES} bytes. There is one exception, which
 * no real name has: if one letter has hundreds of accents, the cut may change the letter.
 *
 * - The head: normalising composes letters with their accents, but any two code units of the name still give at least one byte of the
 *   result. So a result of n bytes is made of at most 2n units.
 * - The tail: it holds the whole extension. An extension has at most 21 characters: `.tar`, a dot, and 16 more. Each of the 16 is made of
 *   at most four code units (a letter with three accents).
 */
const HEAD_LENGTH = 2 * FILE_NAME_MAX_BYTES;
const TAIL_LENGTH = 128;

/** The last extension, if it has at most 16 characters, together with a `.tar` before it. */
const EXTENSION = /(?:\.tar)?\.[^.\s]{1,16}$/iu;

/**
 * The name that a file is listed and downloaded under: the client's base name in NFC, without control and bidi characters. It has at most
 * {@link FILE_NAME_MAX_BYTES} bytes of UTF-8, and keeps the extension. When only dots and invisible characters are left, the name is `file`
 * with the extension of the type.
 * @param clientName  as the client sent it: a path of any system, ill-formed Unicode, or absent.
 * @returns never empty, never `.` or `..`, and holds no `/` or `\`.
 */
export function cleanFileName(clientName: string | undefined, mimeType: string): string {
  const baseName = (clientName ?? '').split(/[/\\]/).at(-1) ?? '';
  const printable = baseName.toWellFormed().replace(UNPRINTABLE, '').trim();
  const name = shortened(headAndTail(printable).normalize('NFC'));
  return VISIBLE.test(name) ? name : `file${extensionOf(mimeType)}`;
}

function headAndTail(name: string): string {
  if (name.length <= HEAD_LENGTH + TAIL_LENGTH) return name;
  // Each cut may split a surrogate pair.
  return (name.slice(0, HEAD_LENGTH) + name.slice(-TAIL_LENGTH)).toWellFormed();
}

function shortened(name: string): string {
  if (Buffer.byteLength(name) <= FILE_NAME_MAX_BYTES) return name;
  const extension = EXTENSION.exec(name)?.[0] ?? '';
  const stem = name.slice(0, name.length - extension.length);
  const room = FILE_NAME_MAX_BYTES - Buffer.byteLength(extension);
  return (beginning(stem, room) + extension).trimEnd();
}

/** As many whole graphemes as fit. If not even one grapheme fits (one may have any number of accents), as many code points as fit. */
function beginning(text: string, maxBytes: number): string {
  // Each code unit takes at least one byte, so the part that is cut off here cannot fit.
  const start = text.slice(0, maxBytes + 1);
  const graphemes = Array.from(new Intl.Segmenter('und').segment(start), ({ segment }) => segment);
  return fitting(graphemes, maxBytes) || fitting(start, maxBytes);
}

function fitting(pieces: Iterable<string>, maxBytes: number): string {
  let text = '';
  let bytes = 0;
  for (const piece of pieces) {
    bytes += Buffer.byteLength(piece);
    if (bytes > maxBytes) break;
    text += piece;
  }
  return text;
}
