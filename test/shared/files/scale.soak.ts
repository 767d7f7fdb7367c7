import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { ASSUMPTIONS } from '../../../docs/costs/assumptions.ts';
import type { Sweeps } from '../../../docs/scale/scale-tables.ts';
import { shardOf, shardsOf } from '../../../shared/files/shards.ts';
import type { SweepReport } from '../../../shared/files/sweep.ts';
import { uuidv7 } from '../../../shared/ids.ts';
import { startService } from './service.ts';
import { accountOf, SimulatedAws } from './simulated-aws.ts';

/** How much the real sweeper finishes in its time, on a simulated AWS with the latencies that docs/scale.md names. */

const RECORD = join(import.meta.dirname, '../../../docs/scale/sweeps.json');
const NOW = 1_790_000_000_000;
const MINUTE_MS = 60_000;
/** A part of the time of a sweep is simulated. What a sweep finishes grows with its time, because each row takes the same calls. */
const SIMULATED_MS = 10_000;
const ROWS = 20_000;
const SHARES = { '512 MB': 512 / 1_769, '1,769 MB': 1 } as const;

const { stores } = await startService();
const { dynamoDb } = await import('../../../shared/aws/dynamodb.ts');
const { s3 } = await import('../../../shared/aws/object-store.ts');
const { newTicket } = await import('../../../shared/aws/ticket-store.ts');
const { sealNow } = await import('../../../shared/aws/book-updates.ts');
const { sweep } = await import('../../../shared/files/sweep.ts');

function simulate(): SimulatedAws {
  vi.restoreAllMocks();
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const aws = new SimulatedAws(ASSUMPTIONS.sweeping, NOW);
  aws.takeThePlaceOf(dynamoDb, s3);
  return aws;
}

/** Adds the ticket of a file that has ended at a time. */
function addTicket(aws: SimulatedAws, accountId: string, endsAt: number): void {
  const lifeSeconds = 1_200;
  const id = uuidv7(endsAt - lifeSeconds * 1_000, lifeSeconds);
  const file = { accountId, id, name: 'a.txt', mimeType: 'text/plain', sizeBytes: 1 };
  const { Item = {} } = newTicket({ ...file, state: 'pending', attemptKeys: [], endsAt });
  aws.addTicket({ ...Item, state: 'settled' });
}

/** What a sweep finds, and how its report or the row of its walk counts what was finished. */
const KINDS: Record<
  keyof Sweeps['finished'][string],
  { fill(aws: SimulatedAws): void; done(report: SweepReport, aws: SimulatedAws): number }
> = {
  tickets: {
    fill: (aws) => {
      for (let row = 0; row < ROWS; row++) addTicket(aws, accountOf(row), NOW - 2 * ROWS + row);
    },
    done: ({ swept }) => swept.leftovers,
  },
  seals: {
    fill: (aws) => {
      for (let row = 0; row < ROWS; row++) aws.addWork(sealNow(accountOf(row), 0, NOW - ROWS + row));
    },
    done: ({ swept }) => swept.leaf,
  },
  objects: {
    fill: (aws) => aws.fillBucket(1e9, NOW - 30 * 60 * MINUTE_MS),
    done: (_, aws) => aws.calls.get('HeadObject') ?? 0,
  },
  pages: { fill: (aws) => aws.fillBucket(1e9, NOW), done: (_, aws) => aws.calls.get('ListObjectsV2') ?? 0 },
};

/** Two digits are enough, and a change of a few calls does not change them. */
const rounded = (amount: number) => Number(amount.toPrecision(2));

async function finishedBy(share: number): Promise<Sweeps['finished'][string]> {
  const finished: Record<string, number> = {};
  for (const [kind, { fill, done }] of Object.entries(KINDS)) {
    const aws = simulate();
    fill(aws);
    const budget = { rows: 1_000, deadlineAt: NOW + SIMULATED_MS };
    const report = await aws.run(aws.on(share, () => sweep(stores, { now: NOW, budget })));
    finished[kind] = rounded((done(report, aws) * ASSUMPTIONS.sweeping.sweepMs) / (Date.now() - NOW));
  }
  return finished as never;
}

/**
 * Lets direct uploads end at a rate for some minutes while the first of several sweepers runs every minute. Only the tickets of its shards are
 * simulated, because sweepers share nothing.
 * @returns how late the last sweep was, in seconds.
 */
async function lagAt(uploadsPerSecond: number, sweepers: number): Promise<number> {
  const aws = simulate();
  const shards = shardsOf({ sweeper: 0, sweepers });
  const minutes = async () => {
    let lag = 0;
    for (let minute = 1; minute <= 4; minute++) {
      const [from, now] = [NOW + (minute - 1) * MINUTE_MS, NOW + minute * MINUTE_MS];
      for (let ticket = 0; ticket < uploadsPerSecond * 60; ticket++) {
        const accountId = accountOf(ticket);
        if (shards.includes(shardOf(accountId)))
          addTicket(aws, accountId, from + Math.floor((ticket * 1_000) / uploadsPerSecond));
      }
      await aws.sleepUntil(now);
      const budget = { rows: 1_000, deadlineAt: now + ASSUMPTIONS.sweeping.sweepMs };
      lag = (await aws.on(1, () => sweep(stores, { now, shards, budget }))).lagSeconds;
    }
    return lag;
  };
  return aws.run(minutes());
}

/** If this test fails because the sweeper has changed, run it with `--update`, and then `npm run generate`. */
test('docs/scale/sweeps.json is what the sweeper finishes in one run', async () => {
  const finished: Record<string, Sweeps['finished'][string]> = {};
  for (const [memory, share] of Object.entries(SHARES)) finished[memory] = await finishedBy(share);
  vi.restoreAllMocks();
  await expect(`${JSON.stringify({ finished }, null, 2)}\n`).toMatchFileSnapshot(RECORD);
});

test('one sweeper falls behind a rate of uploads that several sweepers keep up with', async () => {
  // A sweeper that keeps up finds only what has ended since the last sweep.
  expect(await lagAt(500, 1)).toBeGreaterThan(70);
  expect(await lagAt(500, 2)).toBeLessThanOrEqual(60);
  // This is 2,400,000 tickets for all 64 sweepers.
  expect(await lagAt(10_000, 64)).toBeLessThanOrEqual(60);
});
