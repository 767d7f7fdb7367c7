import { afterAll, beforeAll, expect, test } from 'vitest';
import { FAULTS, type Tally, tryPlay } from './fault-matrix.ts';
import { PLAYS, startMatrix } from './fault-plays.ts';

/** The part of the matrix that every change has to pass; `npm run test:soak` tries all of it (faults.soak.ts). */

let matrix: Awaited<ReturnType<typeof startMatrix>>;

beforeAll(async () => {
  matrix = await startMatrix();
});
afterAll(() => matrix.close());

test.for(['the deletion of a file', 'a new key', 'the revocation of a key', 'a logout'])(
  'a call of %s that happens late, after its retry, undoes nothing',
  async (what) => {
    const tally: Tally = { tried: 0, survived: 0, failures: [] };
    const late = FAULTS.filter(({ reach, happens }) => reach === 'once' && happens === 'after the client went on');
    for (const play of PLAYS.filter((one) => one.what === what)) {
      await tryPlay(matrix.operator, play, late, tally);
    }
    expect(tally.failures).toEqual([]);
    expect(tally.tried).toBeGreaterThan(0);
    expect(tally.survived).toBe(tally.tried);
  },
);
