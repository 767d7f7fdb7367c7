import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Flip } from '../../test/flips/flip.ts';
import { isTestOf, type ListedTest } from './listed-tests.ts';

/** That the tests were seen failing once with a decision reversed. */
export interface SeenFlip {
  readonly row: string;
  readonly reversal: string;
  /** Digest of the edit that was tried: another edit has to be tried anew. */
  readonly edit: string;
  /** The test that noticed, `describe > test`, and its file from the project's root. */
  readonly test: string;
  readonly file: string;
}

/** Written by `npm run test:flips` alone. */
export const SEEN_FLIPS_FILE = join(import.meta.dirname, 'seen-flips.json');

export function readSeenFlips(): readonly SeenFlip[] {
  return JSON.parse(readFileSync(SEEN_FLIPS_FILE, 'utf8')) as SeenFlip[];
}

/** @returns 12 hex digits. */
export function editDigest({ file, find, replace, also, seenBy }: Flip): string {
  return createHash('sha256').update(JSON.stringify({ file, find, replace, also, seenBy })).digest('hex').slice(0, 12);
}

export function isRecordOf(flip: Flip, { row, reversal, edit }: SeenFlip): boolean {
  return row === flip.row && reversal === flip.reversal && edit === editDigest(flip);
}

export function recordOf(flip: Flip, seen: readonly SeenFlip[]): SeenFlip | undefined {
  return seen.find((record) => isRecordOf(flip, record));
}

/** Whether the test that noticed is still there. */
export function hasTest({ test, file }: SeenFlip, tests: readonly ListedTest[]): boolean {
  return tests.some((each) => each.file === file && isTestOf(each, test));
}

/** What is wrong with the record: flips that no test was seen to notice, flips and tests that are no more. */
export function staleRecords(
  flips: readonly Flip[],
  seen: readonly SeenFlip[],
  tests: readonly ListedTest[],
): string[] {
  const unseen = flips.filter((flip) => !recordOf(flip, seen));
  const left = seen.filter((record) => !flips.some((flip) => isRecordOf(flip, record)));
  const lost = seen.filter((record) => !hasTest(record, tests));
  return [
    ...unseen.map(({ row, reversal }) => `never seen failing: ${row}: ${reversal}`),
    ...left.map(({ row, reversal }) => `no flip of today: ${row}: ${reversal}`),
    ...lost.map(({ test, file }) => `no test of today: ${test} (${file})`),
  ];
}
