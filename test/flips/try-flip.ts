import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { CONTRACT_ROWS } from '../../docs/contract/rows.ts';
import type { Flip } from './flip.ts';
import { edited } from './project-copy.ts';

/** BROKEN: something else went wrong than an assertion, which proves nothing of the decision. */
export type Outcome =
  | { readonly verdict: 'seen'; readonly test: string; readonly file: string; readonly message: string }
  | { readonly verdict: 'SURVIVED' | 'BROKEN'; readonly message: string };

/** How a failed `expect` begins; the second is what `resolves` and `rejects` say. */
const ASSERTION = /^(AssertionError: |Error: promise (resolved|rejected) ")/;

/** What vitest's JSON reporter says, as far as it matters here. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Runs the tests that ought to notice a reversed decision. */
export async function tryFlip(copy: string, flip: Flip): Promise<Outcome> {
  const selection = flip.seenBy ? [flip.seenBy] : ['-t', patternOf(flip.row), ...doorFiles(copy, flip.row)];
  const edits = flip.also ? [flip, flip.also] : [flip];
  return outcomeOf(copy, await edited(copy, edits, () => runTests(copy, [...selection, '--bail', '1'])));
}

/** Runs the tests of all flips with nothing reversed: only what passes then can notice anything. */
export async function tryNothing(copy: string, flips: readonly Flip[]): Promise<Outcome> {
  const files = new Set(flips.flatMap(({ row, seenBy }) => seenBy ?? doorFiles(copy, row)));
  return outcomeOf(copy, await runTests(copy, [...files]));
}

async function runTests(copy: string, selection: readonly string[]): Promise<Report | undefined> {
  const reportFile = join(copy, 'report.json');
  rmSync(reportFile, { force: true });
  // That a busy machine is slow is no failure.
  const reporting = ['--reporter', 'json', '--outputFile', reportFile, '--testTimeout', '600000'];
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', ...selection, ...reporting], { cwd: copy, stdio: 'ignore' });
  const end = () => child.kill();
  process.once('exit', end);
  await once(child, 'exit');
  process.off('exit', end);
  try {
    return JSON.parse(readFileSync(reportFile, 'utf8')) as Report;
  } catch {
    return undefined;
  }
}

function outcomeOf(copy: string, report: Report | undefined): Outcome {
  const results = report?.testResults ?? [];
  const tests = results.flatMap(({ name, assertionResults }) => assertionResults.map((test) => ({ ...test, name })));
  const failures = tests.filter(({ status }) => status === 'failed');
  for (const { name, ancestorTitles, title, failureMessages } of failures) {
    const message = failureMessages.find((text) => ASSERTION.test(text));
    if (!message) continue;
    const test = [...ancestorTitles, title].join(' > ');
    return { verdict: 'seen', test, file: relative(copy, name), message: firstLine(message) };
  }
  const [failure] = failures;
  if (failure) return { verdict: 'BROKEN', message: `${failure.title}: ${firstLine(failure.failureMessages[0])}` };
  const cannotStart = results.find(({ message }) => message !== '');
  if (cannotStart) return { verdict: 'BROKEN', message: firstLine(cannotStart.message) };
  if (tests.some(({ status }) => status === 'passed')) return { verdict: 'SURVIVED', message: '' };
  return { verdict: 'BROKEN', message: 'no tests ran' };
}

function firstLine(text = ''): string {
  return text.split('\n')[0] ?? '';
}

/** The row's own tests: no name of a row may be taken for the beginning of another's. */
function patternOf(row: string): string {
  const longer = CONTRACT_ROWS.filter(({ name }) => name.startsWith(`${row} `)).map(({ name }) => name);
  const others = longer.map((name) => `(?!${name.slice(row.length + 1)} )`).join('');
  return `^contract: ${row} ${others}`;
}

function doorFiles(copy: string, row: string): string[] {
  const grep = ['-rlF', `describe('contract: ${row}'`, 'test', '--include', '*.test.ts'];
  const files = execFileSync('grep', grep, { cwd: copy, encoding: 'utf8' });
  return files.split('\n').filter(Boolean);
}
