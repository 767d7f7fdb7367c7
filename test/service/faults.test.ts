import { afterAll, beforeAll, expect, test } from 'vitest';
import { FAULTS, type Tally, tryFaults } from './fault-matrix.ts';
import { SCENARIOS, startMatrix } from './fault-scenarios.ts';

/** A part of the fault matrix for `npm test`; faults.soak.ts tries all of it. */

let matrix: Awaited<ReturnType<typeof startMatrix>>;

beforeAll(async () => {
  matrix = await startMatrix();
});
afterAll(() => matrix.close());

test.for(['the deletion of a file', 'a new key', 'the revocation of a key', 'a logout'])(
  'a late call of %s, applied after its retry, changes nothing',
  async (name) => {
    const tally: Tally = { tried: 0, survived: 0, failures: [] };
    const late = FAULTS.filter(({ reach, happens }) => reach === 'once' && happens === 'after the client went on');
    for (const scenario of SCENARIOS.filter((one) => one.name === name)) {
      await tryFaults(matrix.operator, scenario, late, tally);
    }
    expect(tally.failures).toEqual([]);
    expect(tally.tried).toBeGreaterThan(0);
    expect(tally.survived).toBe(tally.tried);
  },
);
