import { FLIPS } from '../../test/flips/flips.ts';
import { type ListedTest, listTests } from './listed-tests.ts';
import { CONTRACT_ROWS, type ContractRow } from './rows.ts';
import { readSeenFlips, type SeenFlip, staleRecords } from './seen-flips.ts';

/** Some names hold a file name of hundreds of characters. */
const NAME_MAX = 150;

/**
 * `docs/contract.md`: each row with its tests, and what they were seen failing without.
 * @throws Error naming the rows that no test through the door shows, and the flips that no test was seen to notice.
 */
export function contractPage(): string {
  const tests = listTests();
  const bare = CONTRACT_ROWS.filter((row) => atTheDoor(row, tests).length === 0);
  if (bare.length > 0) throw new Error(`no test shows: ${bare.map(({ name }) => name).join(', ')}`);
  const seen = readSeenFlips();
  const stale = staleRecords(FLIPS, seen, tests);
  if (stale.length > 0) throw new Error(`run "npm run test:flips" for:\n${stale.join('\n')}`);
  const head = [
    '# What the contract leaves open, decided, and the tests of each decision',
    '',
    'Made by `node docs/generate.ts` from the names of the tests and from what `npm run test:flips` saw: it reverses each',
    'decision in the source, in one way after another, and a test of the row has to fail.',
  ];
  return `${[...head, ...CONTRACT_ROWS.flatMap((row) => section(row, tests, seen))].join('\n')}\n`;
}

function section(row: ContractRow, tests: readonly ListedTest[], seen: readonly SeenFlip[]): string[] {
  const door = atTheDoor(row, tests).map(({ name, file }) => `- ${name.slice(name.indexOf(' > ') + 3)} (\`${file}\`)`);
  const pieces = (row.pieces ?? []).map((place) => {
    const count = tests.filter(({ file }) => file.startsWith(place)).length;
    if (count === 0) throw new Error(`row "${row.name}" names ${place}, where no test is`);
    return `- in pieces: \`${place}\``;
  });
  const reversals = seen.filter((record) => record.row === row.name).map(noticed);
  return [
    ...['', `## ${row.name}`, '', row.decision, ''],
    ...['Tests:', '', ...new Set(door), ...pieces, ''],
    ...['Reversed, and the test that failed:', '', ...reversals],
  ];
}

function noticed({ row, reversal, test, file }: SeenFlip): string {
  const prefix = `contract: ${row} > `;
  const place = test.startsWith(prefix) ? '' : ` (\`${file}\`)`;
  const name = test.replace(prefix, '');
  return `- ${reversal}: "${name.length > NAME_MAX ? `${name.slice(0, NAME_MAX)}…` : name}"${place}`;
}

function atTheDoor({ name }: ContractRow, tests: readonly ListedTest[]): ListedTest[] {
  return tests.filter((test) => test.name.startsWith(`contract: ${name} > `));
}
