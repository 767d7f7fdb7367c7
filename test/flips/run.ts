import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONTRACT_ROWS } from '../../docs/contract/rows.ts';
import type { Flip } from './flip.ts';
import { FLIPS } from './flips.ts';

/**
 * `node test/flips/run.ts [row]…`: reverses each decision of the contract in a copy of the project and runs the tests
 * that ought to notice. Prints who noticed; fails when nobody did. A flip takes as long as a service takes to start.
 */

const ROOT = join(import.meta.dirname, '../..');

type Outcome = { readonly verdict: 'seen' | 'SURVIVED' | 'BROKEN'; readonly by: string };

/** What vitest's JSON reporter says, as far as it matters here. */
interface Report {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

const rows = process.argv.slice(2);
const unknown = rows.filter((row) => !CONTRACT_ROWS.some(({ name }) => name === row));
if (unknown.length > 0) throw new Error(`the contract has no row ${unknown.join(', ')}`);
const flips = FLIPS.filter(({ row }) => rows.length === 0 || rows.includes(row));

const copy = copyProject();
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

console.log('| row | reversal | verdict | by |\n|---|---|---|---|');
for (const flip of flips) {
  const { verdict, by } = await tryFlip(flip);
  console.log(`| ${flip.row} | ${flip.reversal} | ${verdict} | ${by} |`);
  if (verdict !== 'seen') process.exitCode = 1;
}

/** Everything git knows or would take, with the packages of the original. */
function copyProject(): string {
  const target = mkdtempSync(join(tmpdir(), 'file-hosting-flips-'));
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  for (const file of files.split('\0').filter((name) => name !== '' && existsSync(join(ROOT, name)))) {
    cpSync(join(ROOT, file), join(target, file));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(target, 'node_modules'));
  return target;
}

async function tryFlip(flip: Flip): Promise<Outcome> {
  const path = join(copy, flip.file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    source.replace(flip.find, () => flip.replace),
  );
  try {
    return outcomeOf(await runTests(flip));
  } finally {
    writeFileSync(path, source);
  }
}

async function runTests({ row, seenBy }: Flip): Promise<Report | undefined> {
  const reportFile = join(copy, 'report.json');
  rmSync(reportFile, { force: true });
  const selection = seenBy ? [seenBy] : ['-t', patternOf(row), ...doorFiles(row)];
  const reporting = ['--bail', '1', '--reporter', 'json', '--outputFile', reportFile];
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', ...selection, ...reporting], { cwd: copy, stdio: 'ignore' });
  await once(child, 'exit');
  try {
    return JSON.parse(readFileSync(reportFile, 'utf8')) as Report;
  } catch {
    return undefined;
  }
}

/** A flip counts as seen when a test failed; that the service does not even start proves nothing. */
function outcomeOf(report: Report | undefined): Outcome {
  const results = report?.testResults ?? [];
  const tests = results.flatMap(({ assertionResults }) => assertionResults);
  const failed = tests.find(({ status }) => status === 'failed');
  if (failed) return { verdict: 'seen', by: failed.fullName };
  if (tests.some(({ status }) => status === 'passed')) return { verdict: 'SURVIVED', by: '' };
  return { verdict: 'BROKEN', by: results[0]?.message.split('\n')[0] ?? 'no tests ran' };
}

/** The row's own tests: no name of a row may be taken for the beginning of another's. */
function patternOf(row: string): string {
  const longer = CONTRACT_ROWS.filter(({ name }) => name.startsWith(`${row} `)).map(({ name }) => name);
  const others = longer.map((name) => `(?!${name.slice(row.length + 1)} )`).join('');
  return `^contract: ${row} ${others}`;
}

function doorFiles(row: string): string[] {
  const grep = ['-rlF', `describe('contract: ${row}'`, 'test', '--include', '*.test.ts'];
  const files = execFileSync('grep', grep, { cwd: copy, encoding: 'utf8' });
  return files.split('\n').filter(Boolean);
}
