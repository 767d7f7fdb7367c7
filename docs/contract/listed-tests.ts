import { execFileSync } from 'node:child_process';
import { join, relative, sep } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

export interface ListedTest {
  /** `describe > test`, as the source has it: with `%s` in place of each value of a table of cases. */
  readonly name: string;
  /** From the project's root. */
  readonly file: string;
}

/** Collects the tests without running them. */
export function listTests(): ListedTest[] {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const output = execFileSync(process.execPath, [vitest, 'list', '--json'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  const listed = JSON.parse(output) as ListedTest[];
  return listed.map(({ name, file }) => ({
    name: name.replaceAll('\\"', '"'),
    file: relative(ROOT, file).split(sep).join('/'),
  }));
}
