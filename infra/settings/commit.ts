import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** The files and folders that the bundles of the functions are made of. */
const CODE_OF_FUNCTIONS = ['functions', 'shared', 'infra/bundle', 'package-lock.json'];

let ofFunctions: string | undefined;

/**
 * Returns the last commit that changed the code of the functions. So a commit that changes only documents or tests redeploys no function.
 * With uncommitted changes it is `<commit>-changed`. Without git, or outside of a clone, it is `unknown`.
 */
export function commitOfFunctions(): string {
  ofFunctions ??= known(() => {
    const isChanged = git('status', '--porcelain', '--', ...CODE_OF_FUNCTIONS) !== '';
    return `${git('log', '-1', '--format=%H', '--', ...CODE_OF_FUNCTIONS)}${isChanged ? '-changed' : ''}`;
  });
  return ofFunctions;
}

/** Returns the commit that is checked out, or `unknown`. A deployment records it, so that an operator can check it out again. */
export function commitCheckedOut(): string {
  return known(() => git('rev-parse', 'HEAD'));
}

function known(read: () => string): string {
  try {
    return read() || 'unknown';
  } catch {
    return 'unknown';
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}
