import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBooks } from '../support/books.ts';
import { FAULTS, killAtCall, type Scenario, type Tally, tryFaults } from './fault-matrix.ts';
import { SCENARIOS, startMatrix } from './fault-scenarios.ts';

/** A part of the fault matrix for `npm test`; faults.soak.ts tries all of it. */

interface Listing {
  readonly items: readonly { readonly name: string; readonly url: string }[];
  readonly total: number;
}

let matrix: Awaited<ReturnType<typeof startMatrix>>;

beforeAll(async () => {
  matrix = await startMatrix();
});
afterAll(() => matrix.close());

test('a deletion that dies at any of its calls leaves no listed file whose link is dead', async () => {
  const { operator } = matrix;
  const { byKey } = await operator.service.newAccount();
  const scenario = SCENARIOS.find(({ name }) => name === 'the deletion of a file') as Scenario;
  await byKey.upload('kept', 'hello');
  const listings: string[][] = [];
  for (let nth = 1, isHit = true; isHit; nth++) {
    const { body } = await byKey.upload(`deleted at ${nth}`, 'hello');
    ({ isHit } = await killAtCall(operator.service, scenario, nth, () => byKey.request('DELETE', `/files/${body.id}`)));
    const { items, total } = (await byKey.request<Listing>('GET', '/files?limit=100')).body;
    expect(total).toBe(items.length);
    for (const { url } of items) {
      const link = await fetch(url);
      expect({ nth, url, status: link.status, bytes: await link.text() }).toMatchObject({
        status: 200,
        bytes: 'hello',
      });
    }
    listings.push(items.map(({ name }) => name));
  }
  // The file is listed until the transaction of its deletion, and never after that.
  const isListed = listings.map((names, index) => names.includes(`deleted at ${index + 1}`));
  expect(isListed).toEqual(isListed.toSorted().reverse());
  expect(new Set(isListed)).toEqual(new Set([true, false]));
  await operator.expireDeadlines();
  expect(await operator.sweep()).toMatchObject({ swept: { deleted: 2 }, failed: 0 });
  const { problems, unfinished } = await readBooks(operator);
  expect({ problems, unfinished }).toEqual({ problems: [], unfinished: [] });
});

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
