import type { ListedFile } from './file.ts';
import { LEAF_SEQS, positionOf } from './listing-counters.ts';

/**
 * The names of a full leaf, packed for searching. One text holds the 64 folded names. So one native call finds out whether any of them
 * contains the searched part, and one read unit reads hundreds of names. No file is added to a full leaf, so its seal changes only when the
 * names of deleted files are removed.
 */
export interface Seal {
  /** The folded names at positions 0 to 63 of the leaf, with a separator between them. The name is empty where there is no file. */
  readonly names: string;
  /**
   * The version of Unicode by which the names were folded. It is present only if a name has a character that this version does not know,
   * because a later version may fold this character differently. The folding of known characters never changes (Unicode's stability
   * policy).
   */
  readonly unicode?: string;
}

/** No file name holds a slash (`cleanFileName`), and folding makes none. */
export const NAME_SEPARATOR = '/';

const UNICODE = process.versions.unicode ?? '';
const UNASSIGNED = /\p{Cn}/u;

/**
 * Makes the seal of a leaf from its files, in any order. @throws Error when a name holds the separator, which no name written by us does.
 */
export function sealOf(files: readonly Pick<ListedFile, 'name' | 'seq'>[]): Seal {
  const folded = new Array<string>(LEAF_SEQS).fill('');
  for (const { name, seq } of files) {
    if (name.includes(NAME_SEPARATOR)) throw new Error(`the name of file ${seq} holds a ${NAME_SEPARATOR}`);
    folded[positionOf(seq)] = foldName(name);
  }
  const names = folded.join(NAME_SEPARATOR);
  return { names, ...(UNASSIGNED.test(names) && { unicode: UNICODE }) };
}

/** True when the names of a seal are folded as {@link foldName} folds now. */
export function isReadable({ unicode }: Seal): boolean {
  return unicode === undefined || unicode === UNICODE;
}

/**
 * The positions (0 to 63) at which a seal has a name that contains a text, in ascending order.
 * @param part  the text: folded, not empty, without a separator.
 */
export function positionsWith({ names }: Seal, part: string): number[] {
  if (!names.includes(part)) return [];
  return names.split(NAME_SEPARATOR).flatMap((name, position) => (name.includes(part) ? position : []));
}

/**
 * Maps all spellings of a text to the same text: upper and lower case become equal, and so do composed and decomposed characters. Source:
 * Unicode, section 3.13, "canonical caseless matching".
 *
 * JavaScript has no case folding. Mapping to lower, upper and again lower case has the same effect: the first maps ẞ to ß, the second
 * ß to SS and ﬁ to FI. Only the final sigma needs a rule of its own: its lower case is ς at the end of a word, and σ elsewhere.
 *
 * Two rules go further, because people search for what they see: every separator is a space (macOS writes U+202F before the "AM" in the
 * name of a screenshot), and a dotted İ is an i.
 */
export function foldName(text: string): string {
  const lower = text.normalize('NFD').toLowerCase().toUpperCase().toLowerCase();
  return lower.replaceAll('ς', 'σ').replace(/\s/g, ' ').replaceAll('i\u0307', 'i').normalize('NFC');
}
