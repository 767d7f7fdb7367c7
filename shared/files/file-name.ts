import { FILE_NAME_MAX_BYTES } from '../limits.ts';
import { extensionOf } from './media-type.ts';

/** Control characters, line and paragraph separators, whatever turns the direction of text, and the byte order mark. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\uFEFF]/gu;

/** What shows where a name is read: no white space, marks of format or fillers; and no dot, which alone is no name. */
const VISIBLE = /[^.\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * Of a longer name only the first and last characters can be part of the result: a byte of it comes from two UTF-16 code
 * units at most (accents are composed with their letters), and an extension with `.tar` is shorter than {@link TAIL_LENGTH}
 * even if each of its letters has three accents. What lies between is left out before the name is normalised, because
 * that takes quadratic time for a run of accents: 64 KB of them took seconds.
 */
const HEAD_LENGTH = 2 * FILE_NAME_MAX_BYTES;
const TAIL_LENGTH = 128;

/** The last extension, of a size that extensions have, and `.tar` before it. */
const EXTENSION = /(?:\.tar)?\.[^.\s]{1,16}$/iu;

/**
 * The name a file is listed and downloaded under: the client's base name in NFC, without control and bidi characters, in
 * at most FILE_NAME_MAX_BYTES bytes of UTF-8 with its extension kept. When nothing but dots and what cannot be seen is left,
 * `file` and the extension of the type.
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
  // Either cut may go through a surrogate pair.
  return (name.slice(0, HEAD_LENGTH) + name.slice(-TAIL_LENGTH)).toWellFormed();
}

function shortened(name: string): string {
  if (Buffer.byteLength(name) <= FILE_NAME_MAX_BYTES) return name;
  const extension = EXTENSION.exec(name)?.[0] ?? '';
  const stem = name.slice(0, name.length - extension.length);
  const room = FILE_NAME_MAX_BYTES - Buffer.byteLength(extension);
  return (beginning(stem, room) + extension).trimEnd();
}

/** As many whole graphemes as fit, or code points if not even one grapheme does (any number of accents make one). */
function beginning(text: string, maxBytes: number): string {
  // A code unit takes at least one byte, so what is cut off here never fits.
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
