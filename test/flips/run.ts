import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { listTests } from '../../docs/contract/listed-tests.ts';
import { CONTRACT_ROWS } from '../../docs/contract/rows.ts';
import {
  editDigest,
  hasTest,
  isRecordOf,
  readSeenFlips,
  recordOf,
  SEEN_FLIPS_FILE,
} from '../../docs/contract/seen-flips.ts';
import { startDynamoDbLocal } from '../../infra/local/dynamodb/dynamodb-local.ts';
import { SHARED_ENGINE_VARIABLE } from '../support/engines.ts';
import type { Flip } from './flip.ts';
import { FLIPS } from './flips.ts';
import { copyProject, edited } from './project-copy.ts';
import { tryFlip, tryNothing } from './try-flip.ts';

/**
 * `npm run test:flips [-- row…]`: reverses each decision of the contract in a copy of the project and runs the tests that
 * ought to notice. Prints who noticed and keeps it for docs/contract.md; fails when nobody did. With `--unseen` only what
 * no test was seen to notice yet. A flip takes as long as a service takes to start.
 */

/** Two cores: a run waits for a database and a service to start, and uses one of them meanwhile. */
const COPIES = 2;

const { values, positionals: rows } = parseArgs({ options: { unseen: { type: 'boolean' } }, allowPositionals: true });
const unknown = rows.filter((row) => !CONTRACT_ROWS.some(({ name }) => name === row));
if (unknown.length > 0) throw new Error(`the contract has no row ${unknown.join(', ')}`);
const ofRows = FLIPS.filter(({ row }) => rows.length === 0 || rows.includes(row));
const tests = listTests();
let seen = readSeenFlips().filter((record) => hasTest(record, tests));
const flips = values.unseen ? ofRows.filter((flip) => !recordOf(flip, seen)) : ofRows;
if (flips.length === 0) process.exit();

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
const copies = Array.from({ length: COPIES }, copyProject);
const [first = ''] = copies;
await compile(first, flips);
// One for the whole run: it takes seconds to start, and more to get warm.
const engine = await startDynamoDbLocal();
process.env[SHARED_ENGINE_VARIABLE] = engine.endpoint;
const asItIs = await tryNothing(first, flips);
if (asItIs.verdict !== 'SURVIVED') throw new Error(`the tests fail as it is: ${asItIs.message}`);

const waiting = [...flips];
console.log('| row | reversal | verdict | by | which says |\n|---|---|---|---|---|');
await Promise.all(
  copies.map(async (copy) => {
    for (let flip = waiting.shift(); flip; flip = waiting.shift()) await lookAt(copy, flip);
  }),
);
await engine.close();

async function lookAt(copy: string, flip: Flip): Promise<void> {
  const { row, reversal } = flip;
  const outcome = await tryFlip(copy, flip);
  const by = outcome.verdict === 'seen' ? outcome.test : '';
  console.log(`| ${row} | ${reversal} | ${outcome.verdict} | ${by} | ${outcome.message} |`);
  seen = seen.filter((record) => !isRecordOf(flip, record));
  if (outcome.verdict === 'seen') seen.push({ row, reversal, edit: editDigest(flip), test: by, file: outcome.file });
  else process.exitCode = 1;
  const inOrder = FLIPS.flatMap((each) => recordOf(each, seen) ?? []);
  writeFileSync(SEEN_FLIPS_FILE, `${JSON.stringify(inOrder, null, 2)}\n`);
}

/** The types hold with any decision reversed: what does not compile is no other decision, but a mistake. */
async function compile(copy: string, flips: readonly Flip[]): Promise<void> {
  const ofFiles = Object.values(Object.groupBy(flips, ({ file }) => file));
  const rounds = Math.max(...ofFiles.map((ofFile = []) => ofFile.length));
  const lenient = ['--noUnusedLocals', 'false', '--noUnusedParameters', 'false'];
  let compiles = true;
  for (let round = 0; round < rounds; round++) {
    const oneOfEachFile = ofFiles.flatMap((ofFile = []) => ofFile[round] ?? []);
    await edited(copy, oneOfEachFile, async () => {
      for (const project of ['.', 'infra/edge']) {
        const command = ['node_modules/typescript/bin/tsc', '--noEmit', '-p', project, ...lenient];
        const { status } = spawnSync(process.execPath, command, { cwd: copy, stdio: 'inherit' });
        compiles &&= status === 0;
      }
    });
  }
  if (!compiles) throw new Error('there are flips that do not compile');
}
