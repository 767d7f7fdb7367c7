import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** For the figures of docs/reliability.md. */
export const FIGURES = join(import.meta.dirname, '../../docs/reliability');

/** A run whose figures a document shows. */
interface RecordedRun {
  /** When it began, in ISO 8601. */
  readonly recordedAt: string;
  /** The first digits of the commit that runs. */
  readonly commit: string;
}

/**
 * Begins a run that is recorded. To be called before the run, because a commit may be made during it.
 * @throws Error when something is not committed: then nobody else could run the same.
 */
export function beginRecordedRun(): RecordedRun {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: FIGURES, encoding: 'utf8' }).trim();
  // Other parts of the same run may have written their figures already.
  const code = [':/', ':!/docs/reliability', ':!/docs/load/load.json'];
  const changed = git('status', '--porcelain', '--', ...code);
  if (changed !== '') throw new Error(`A run is recorded only if everything is committed:\n${changed}`);
  // `Date` follows the clock of the histories in their tests.
  const recordedAt = new Date(performance.timeOrigin + performance.now()).toISOString();
  return { recordedAt, commit: git('rev-parse', '--short=12', 'HEAD') };
}

/** Writes `docs/reliability/<name>.json`. */
export function writeFigures(name: 'kills' | 'faults', figures: RecordedRun & Readonly<Record<string, unknown>>): void {
  writeFileSync(join(FIGURES, `${name}.json`), `${JSON.stringify(figures, null, 2)}\n`);
}
