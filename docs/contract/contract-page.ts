import { execFileSync } from 'node:child_process';
import { join, relative, sep } from 'node:path';
import { CONTRACT_ROWS, type ContractRow } from './rows.ts';

const ROOT = join(import.meta.dirname, '../..');

interface ListedTest {
  readonly name: string;
  /** From the project's root. */
  readonly file: string;
}

/**
 * `docs/contract.md`: each row with the tests that would fail without it.
 * @throws Error naming the rows that no test through the door shows.
 */
export function contractPage(): string {
  const tests = listTests();
  const bare = CONTRACT_ROWS.filter((row) => atTheDoor(row, tests).length === 0);
  if (bare.length > 0) throw new Error(`no test shows: ${bare.map(({ name }) => name).join(', ')}`);
  const head = [
    '# What the contract leaves open, decided, and the tests of each decision',
    '',
    'Made by `node docs/generate.ts` from the names of the tests.',
  ];
  return `${[...head, ...CONTRACT_ROWS.flatMap((row) => section(row, tests))].join('\n')}\n`;
}

function section(row: ContractRow, tests: readonly ListedTest[]): string[] {
  const door = atTheDoor(row, tests).map(({ name, file }) => `- ${name.slice(name.indexOf(' > ') + 3)} (\`${file}\`)`);
  const pieces = (row.pieces ?? []).map((place) => {
    const count = tests.filter(({ file }) => file.startsWith(place)).length;
    if (count === 0) throw new Error(`row "${row.name}" names ${place}, where no test is`);
    return `- in pieces: \`${place}\``;
  });
  return ['', `## ${row.name}`, '', row.decision, '', ...new Set(door), ...pieces];
}

function atTheDoor({ name }: ContractRow, tests: readonly ListedTest[]): ListedTest[] {
  return tests.filter((test) => test.name.startsWith(`contract: ${name} > `));
}

/** Collects the tests without running them. */
function listTests(): ListedTest[] {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const output = execFileSync(process.execPath, [vitest, 'list', '--json'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  const listed = JSON.parse(output) as ListedTest[];
  return listed.map(({ name, file }) => ({ name, file: relative(ROOT, file).split(sep).join('/') }));
}
