import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

let checkedOut: string | undefined;

/**
 * Returns the commit that is checked out; without git, or outside of a clone, `unknown`. With uncommitted changes it is `<commit>-changed`,
 * except in the files of the stages: who goes back has an older commit with the present files of the stages. A deployment records this text,
 * so that an operator can check out the commit again, and gives it to every function.
 */
export function commitCheckedOut(): string {
  checkedOut ??= readCommit();
  return checkedOut;
}

function readCommit(): string {
  try {
    const commit = git('rev-parse', 'HEAD');
    return git('status', '--porcelain', '--', '.', ':!infra/stages') === '' ? commit : `${commit}-changed`;
  } catch {
    return 'unknown';
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}
