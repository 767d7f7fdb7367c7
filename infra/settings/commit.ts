import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** What the bundles of the functions are made of. */
const CODE_OF_FUNCTIONS = ['functions', 'shared', 'infra/bundle', 'package-lock.json'];

let ofFunctions: string | undefined;

/**
 * Returns the last commit that changed the code of the functions, so that a commit of documents or tests redeploys no function. Changes
 * that are not committed are marked: `<commit>-changed`. Without git, or outside of a clone, it is `unknown`.
 */
export function commitOfFunctions(): string {
  ofFunctions ??= known(() => {
    const isChanged = git('status', '--porcelain', '--', ...CODE_OF_FUNCTIONS) !== '';
    return `${git('log', '-1', '--format=%H', '--', ...CODE_OF_FUNCTIONS)}${isChanged ? '-changed' : ''}`;
  });
  return ofFunctions;
}

/** Returns the commit that is checked out, by which an operator finds the version of a deployment again; or `unknown`. */
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
