import { type ListedTest, listTests } from './listed-tests.ts';
import { CONTRACT_ROWS, type ContractRow } from './rows.ts';

/**
 * `docs/contract.md`: each row with its tests.
 * @throws Error naming the rows that no test through the door shows.
 */
export function contractPage(): string {
  const tests = listTests();
  const bare = CONTRACT_ROWS.filter((row) => atTheDoor(row, tests).length === 0);
  if (bare.length > 0) throw new Error(`no test shows: ${bare.map(({ name }) => name).join(', ')}`);
  const head = [
    '# What the contract leaves open, decided, and the tests of each decision',
    '',
    'Made by `node docs/generate.ts` from `docs/contract/rows.ts` and the names of the tests.',
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
  return [...['', `## ${row.name}`, '', row.decision, ''], ...['Tests:', '', ...new Set(door), ...pieces]];
}

function atTheDoor({ name }: ContractRow, tests: readonly ListedTest[]): ListedTest[] {
  return tests.filter((test) => test.name.startsWith(`contract: ${name} > `));
}
