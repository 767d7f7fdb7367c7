import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROUTES } from '../../shared/routes.ts';
import { FAULTS, type Tally, tryDeaths, tryPlay } from './fault-matrix.ts';
import { PLAYS, startMatrix } from './fault-plays.ts';

/** Every fault at every call of every route, lane and background handler; the calls are those that a run makes. */

let matrix: Awaited<ReturnType<typeof startMatrix>>;
/** Of all plays. */
const tally: Tally = { tried: 0, survived: 0, failures: [] };

beforeAll(async () => {
  matrix = await startMatrix();
});
afterAll(() => matrix.close());

/** Expects that the run tries at least one fault, and that all it tries are survived. */
async function expectSurvived(run: () => Promise<void>): Promise<void> {
  const before = { tried: tally.tried, failures: tally.failures.length };
  await run();
  expect(tally.failures.slice(before.failures)).toEqual([]);
  expect(tally.tried).toBeGreaterThan(before.tried);
}

test('every route and every background handler takes part', () => {
  const parts = new Set<string>(PLAYS.map(({ route }) => route));
  expect([...parts].sort()).toEqual([...Object.keys(ROUTES), 'settle-upload', 'sweep'].sort());
});

test.each(PLAYS)('every fault at every call is survived by $what', async (play) => {
  await expectSurvived(() => tryPlay(matrix.operator, play, FAULTS, tally));
});

describe('a client that repeats its request survives the death of the process at every call of', () => {
  const mortal = [/ with a key$/, /^a completion$/, /^the deletion of a file$/];
  test.each(PLAYS.filter(({ what }) => mortal.some((one) => one.test(what))))('$what', async (play) => {
    await expectSurvived(() => tryDeaths(matrix.operator, play, tally));
  });
});

test('as many faults were survived as were tried', () => {
  console.log(`faults: ${tally.tried} tried, ${tally.survived} survived`);
  expect(tally.tried).toBeGreaterThan(0);
  expect(tally.survived).toBe(tally.tried);
});
