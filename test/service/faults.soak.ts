import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROUTES } from '../../functions/routes.ts';
import { FAULTS, type Scenario, type Tally, tryFaults, tryKills } from './fault-matrix.ts';
import { SCENARIOS, startMatrix } from './fault-scenarios.ts';

/** Applies every fault to every call of every route, lane and background function (see fault-matrix.ts). */

let matrix: Awaited<ReturnType<typeof startMatrix>>;
/** The counts of all scenarios. */
const tally: Tally = { tried: 0, survived: 0, failures: [] };
/** Every route and every background function. */
const parts = new Set<string>(SCENARIOS.map(({ route }) => route));

beforeAll(async () => {
  matrix = await startMatrix();
});
afterAll(() => matrix.close());

/** Expects that the run tries at least one fault, and that the service survives every fault that it tries. */
async function expectSurvived(run: () => Promise<void>): Promise<void> {
  const before = { tried: tally.tried, failures: tally.failures.length };
  await run();
  expect(tally.failures.slice(before.failures)).toEqual([]);
  expect(tally.tried).toBeGreaterThan(before.tried);
}

const named = (scenarios: readonly Scenario[]) => scenarios.map((scenario) => [scenario.name, scenario] as const);

test('the scenarios cover every route and every background function', () => {
  expect([...parts].sort()).toEqual([...Object.keys(ROUTES), 'complete-arrived-upload', 'sweep'].sort());
});

test.each(named(SCENARIOS))('the service survives every fault at every call of %s', async (_name, scenario) => {
  await expectSurvived(() => tryFaults(matrix.operator, scenario, FAULTS, tally));
});

describe('a client that retries succeeds when the process is killed at any call of', () => {
  const killable = [/ with a key$/, /^a completion$/, /^the deletion of a file$/];
  const killed = SCENARIOS.filter(({ name }) => killable.some((one) => one.test(name)));
  test.each(named(killed))('%s', async (_name, scenario) => {
    await expectSurvived(() => tryKills(matrix.operator, scenario, tally));
  });
});

test('the number of survived faults equals the number of tried faults', () => {
  console.log(`faults: ${tally.tried} tried, ${tally.survived} survived`);
  expect(tally.tried).toBeGreaterThan(0);
  expect(tally.survived).toBe(tally.tried);
});
