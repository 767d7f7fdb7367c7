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
  ofFunctions ??= known(() => marked(git('log', '-1', '--format=%H', '--', ...CODE_OF_FUNCTIONS), CODE_OF_FUNCTIONS));
  return ofFunctions;
}

/**
 * Returns the commit that is checked out, or `unknown`. With uncommitted changes it is `<commit>-changed`, except in the files of the stages:
 * who goes back has an older commit with the present files of the stages. A deployment records this text, so that an operator can check out
 * the commit again.
 */
export function commitCheckedOut(): string {
  return known(() => marked(git('rev-parse', 'HEAD'), ['.', ':!infra/stages']));
}

/** Marks a commit when some of these files have uncommitted changes. */
function marked(commit: string, files: readonly string[]): string {
  return git('status', '--porcelain', '--', ...files) === '' ? commit : `${commit}-changed`;
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
