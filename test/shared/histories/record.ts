import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** For the figures of docs/reliability.md. */
export const FIGURES = join(import.meta.dirname, '../../../docs/reliability');

interface RunHere {
  readonly recordedAt: string;
  /** The first digits of the commit that runs. */
  readonly commit: string;
}

/** @returns undefined when something is not committed: then nobody else could run the same. */
export function runHere(): RunHere | undefined {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: FIGURES, encoding: 'utf8' }).trim();
  if (git('status', '--porcelain', '--', ':/', ':!/docs/reliability') !== '') return undefined;
  // `Date` follows the clock of the histories.
  const recordedAt = new Date(performance.timeOrigin + performance.now()).toISOString();
  return { recordedAt, commit: git('rev-parse', '--short=12', 'HEAD') };
}
