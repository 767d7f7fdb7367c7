import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectAgreement } from './histories.ts';

/**
 * `HISTORIES=2000 npm run test:soak` runs as many, and records them for docs/reliability.md. Runs of the same commit with other seeds are
 * recorded together, so that two processors can share the work.
 */
const { HISTORIES } = process.env;
const COUNT = Number(HISTORIES ?? 100);
const ROOT = join(import.meta.dirname, '../../..');
const FIGURES = join(ROOT, 'docs/reliability/histories.json');

interface RecordedRun {
  readonly recordedAt: string;
  /** The first digits of the commit that ran. */
  readonly commit: string;
  readonly histories: number;
  readonly seed: number;
  readonly disagreements: 0;
}

test(`the service agrees with the model after any of ${COUNT} histories`, { timeout: 3 * 3_600_000 }, async () => {
  const commit = HISTORIES === undefined ? '' : commitHere();
  const seed = await expectAgreement(COUNT);
  if (HISTORIES === undefined) return;
  // `Date` follows the clock of the histories.
  const recordedAt = new Date(performance.timeOrigin + performance.now()).toISOString();
  const recorded: RecordedRun[] = JSON.parse(readFileSync(FIGURES, 'utf8'));
  const others = recorded.filter((run) => run.commit === commit && run.seed !== seed);
  const runs: RecordedRun[] = [...others, { recordedAt, commit, histories: COUNT, seed, disagreements: 0 }];
  writeFileSync(FIGURES, `${JSON.stringify(runs, null, 2)}\n`);
});

/** The commit that runs. What is not committed cannot be recorded. */
function commitHere(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  expect(git('status', '--porcelain', '--', '.', ':!docs/reliability')).toBe('');
  return git('rev-parse', '--short=12', 'HEAD');
}
