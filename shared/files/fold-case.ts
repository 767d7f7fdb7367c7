/**
 * A text in a form that is the same for all its spellings in upper and lower case and in composed and decomposed
 * characters (Unicode, section 3.13, "canonical caseless matching").
 *
 * JavaScript has no case folding, but lower, upper and lower again amounts to it: the first brings ẞ to ß, the second ß to
 * SS and ﬁ to FI. What is left is the final sigma, which lower-casing writes as ς at the end of a word only.
 */
export function foldCase(text: string): string {
  return text.normalize('NFD').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}
