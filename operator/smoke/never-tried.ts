/**
 * The headings of docs/not-tried-on-aws.md that may explain a failed check, by its name: what we count on there was read in AWS's documents, but
 * never tried on AWS.
 */
const ENTRIES: Readonly<Record<string, RegExp>> = {
  'The order of `{{resolve}}` and joins': /^(health|login: the start|files|usage|form of|25 MiB with an invalid key)/,
  'A form over 4 MiB':
    /^form of ((?!1 B|a body of 4 MiB( - 1 B)?,).*|.*without a length)|^(25 MiB with an invalid key|a file one byte over)/,
  "CloudFront's response timeout during a slow body": /^form of (11|25|100) MiB/,
  '`Expect` in a deny list': /^form of .*Expect|invalid key .*\(expect\)/,
  'A large body that the edge refuses': /^(25 MiB without a key|a body far over|a large body)/,
  'Answers of edge functions': /^(answers|25 MiB without a key)/,
  'List updates in one expression': /^limiter/,
  'Transactions in progress': /^(files|usage|form of|direct upload of)/,
};

/** Finds the headings of the entries that may explain why a check fails on AWS. @param name  that of the check. */
export function entriesFor(name: string): string[] {
  return entriesOfNeverTried().filter((heading) => ENTRIES[heading]?.test(name));
}

/** All headings to which a check leads. */
export function entriesOfNeverTried(): string[] {
  return Object.keys(ENTRIES);
}
