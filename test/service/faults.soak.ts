import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROUTES } from '../../shared/routes.ts';
import { FAULTS, type Tally, tryDeaths, tryPlay } from './fault-matrix.ts';
import { startMatrix } from './fault-plays.ts';

/** Every fault at every call of every route, lane and background handler; the calls are those that a run makes. */

let matrix: Awaited<ReturnType<typeof startMatrix>>;
const tally: Tally = { tried: 0, survived: 0, failures: [] };

beforeAll(async () => {
  matrix = await startMatrix();
});
afterAll(() => matrix.close());

test('every route and every background handler takes part', () => {
  const parts = new Set<string>(matrix.plays.map(({ route }) => route));
  expect([...parts].sort()).toEqual([...Object.keys(ROUTES), 'settle-upload', 'sweep'].sort());
});

test('every fault is survived', async () => {
  for (const play of matrix.plays) {
    const before = tally.tried;
    await tryPlay(matrix.operator, play, FAULTS, tally);
    expect({ [play.what]: tally.tried - before }).not.toEqual({ [play.what]: 0 });
  }
  expect(tally.failures).toEqual([]);
});

test('the death of a process is survived by a client that repeats its request', async () => {
  const mortal = [/ with a key$/, /^a completion$/, /^the deletion of a file$/];
  for (const play of matrix.plays.filter(({ what }) => mortal.some((one) => one.test(what)))) {
    await tryDeaths(matrix.operator, play, tally);
  }
  expect(tally.failures).toEqual([]);
});

test('as many faults were survived as were tried', () => {
  console.log(`faults: ${tally.tried} tried, ${tally.survived} survived`);
  expect(tally.tried).toBeGreaterThan(0);
  expect(tally.survived).toBe(tally.tried);
});
