import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { ASSUMPTIONS } from '../../../docs/costs/assumptions.ts';
import type { Sweeps } from '../../../docs/scale/scale-tables.ts';
import { SHARDS } from '../../../shared/contract/limits.ts';
import { LEAF_SEQS } from '../../../shared/files/listing-counters.ts';
import { shardsOf } from '../../../shared/files/shards.ts';
import type { SweepReport } from '../../../shared/files/sweep.ts';
import { uuidv7 } from '../../../shared/ids.ts';
import { startService } from './service.ts';
import { accountOf, SimulatedAws } from './simulated-aws.ts';

/** How much the real sweeper finishes in its time, on a simulated AWS with the latencies that docs/scale.md names. */

const RECORD = join(import.meta.dirname, '../../../docs/scale/sweeps.json');
const NOW = 1_790_000_000_000;
const MINUTE_MS = 60_000;
/** The walk of the bucket compares objects of this age. */
const A_DAY_AGO = NOW - 30 * 60 * MINUTE_MS;
/** A part of the time of a sweep is simulated. What a sweep finishes grows with its time, because each row takes the same calls. */
const SIMULATED_MS = 10_000;
const ROWS = 20_000;
const SHARES = { '512 MB': 512 / 1_769, '1,769 MB': 1 } as const;

const { stores } = await startService();
const { dynamoDb } = await import('../../../shared/aws/dynamodb.ts');
const { s3 } = await import('../../../shared/aws/object-store.ts');
const { newTicket } = await import('../../../shared/aws/ticket-store.ts');
const { fileKey, workShard } = await import('../../../shared/aws/file-items.ts');
const { sealNow } = await import('../../../shared/aws/book-updates.ts');
const { sweep } = await import('../../../shared/files/sweep.ts');

function simulate(): SimulatedAws {
  vi.restoreAllMocks();
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const aws = new SimulatedAws(ASSUMPTIONS.sweeping, NOW);
  aws.takeThePlaceOf(dynamoDb, s3);
  return aws;
}

/** Adds a ticket that has ended at a time. While it is pending, no file was made of it. */
function addTicket(aws: SimulatedAws, accountId: string, endsAt: number, state: 'settled' | 'pending'): void {
  const lifeSeconds = 1_200;
  const id = uuidv7(endsAt - lifeSeconds * 1_000, lifeSeconds);
  const file = { accountId, id, name: 'a.txt', mimeType: 'text/plain', sizeBytes: 1 };
  const { Item = {} } = newTicket({ ...file, state: 'pending', attemptKeys: [], endsAt });
  aws.addTicket({ ...Item, state });
}

/** Adds a leaf that has become full. */
function addLeaf(aws: SimulatedAws, accountId: string, dueAt: number): void {
  const { Key, ExpressionAttributeValues: values = {} } = sealNow(accountId, 0, dueAt);
  aws.addWork({ ...Key, work_shard: values[':shard'], work_due_at: values[':now'] });
}

/** Adds the row of a deleted file whose object could not be removed. */
function addDeletion(aws: SimulatedAws, accountId: string, dueAt: number): void {
  const row = { ...fileKey({ accountId, id: uuidv7(dueAt) }), state: 'deleting', via: 'form', object_key: 'uploads/a' };
  aws.addWork({ ...row, work_shard: workShard(accountId), work_due_at: dueAt });
}

const dueRows = (add: (accountId: string, dueAt: number) => void) => {
  for (let row = 0; row < ROWS; row++) add(accountOf(row), NOW - 2 * ROWS + row);
};

/** What a sweep finds, and how its report or its calls count what was finished. */
const KINDS: Record<
  keyof Sweeps['finished'][string],
  { fill(aws: SimulatedAws): void; done(report: SweepReport, aws: SimulatedAws): number }
> = {
  leftovers: {
    fill: (aws) => dueRows((accountId, dueAt) => addTicket(aws, accountId, dueAt, 'settled')),
    done: ({ swept }) => swept.leftovers,
  },
  ofOneAccount: {
    fill: (aws) => dueRows((_, dueAt) => addTicket(aws, accountOf(0), dueAt, 'settled')),
    done: ({ swept }) => swept.leftovers,
  },
  abandoned: {
    fill: (aws) => dueRows((accountId, dueAt) => addTicket(aws, accountId, dueAt, 'pending')),
    done: ({ swept }) => swept.ticket,
  },
  deletions: {
    fill: (aws) => dueRows((accountId, dueAt) => addDeletion(aws, accountId, dueAt)),
    done: ({ swept }) => swept.deleted,
  },
  seals: {
    fill: (aws) => dueRows((accountId, dueAt) => addLeaf(aws, accountId, dueAt)),
    done: ({ swept }) => swept.leaf,
  },
  objects: {
    fill: (aws) => aws.fillBucket(1e9, A_DAY_AGO),
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
 * Lets tickets end at a rate for some minutes, while several sweepers run every minute. One ticket in ten is abandoned, and one in 64 fills a
 * leaf. The bucket has the objects of one of these minutes, a day later. The sweepers are simulated one after the other, each with the rows
 * of its shards: they share nothing.
 */
async function sweepAll(ticketsPerSecond: number, sweepers: number, minutes: number): Promise<Sweeps['together']> {
  const together = { ticketsPerSecond, sweepers, minutes, tickets: 0, seals: 0, objects: 0, lagSeconds: 0 };
  const tickets = ticketsPerSecond * 60;
  for (let sweeper = 0; sweeper < sweepers; sweeper++) {
    const aws = simulate();
    const shards = shardsOf({ sweeper, sweepers });
    aws.fillBucket(tickets, A_DAY_AGO);
    const addMinute = (from: number, shard: number) => {
      for (let round = 0; shard + round * SHARDS < tickets; round++) {
        const ticket = shard + round * SHARDS;
        const endsAt = from + Math.floor((ticket * 1_000) / ticketsPerSecond);
        addTicket(aws, accountOf(ticket), endsAt, round % 10 === 0 ? 'pending' : 'settled');
        if (round % LEAF_SEQS === 0) addLeaf(aws, accountOf(ticket), endsAt);
      }
    };
    const sweeps = async () => {
      for (let minute = 1; minute <= minutes; minute++) {
        const now = NOW + minute * MINUTE_MS;
        for (const shard of shards) addMinute(now - MINUTE_MS, shard);
        await aws.sleepUntil(now);
        const budget = { rows: 1_000, deadlineAt: now + ASSUMPTIONS.sweeping.sweepMs };
        const { swept, lagSeconds } = await aws.on(1, () => sweep(stores, { now, shards, budget }));
        together.tickets += swept.leftovers + swept.ticket;
        together.seals += swept.leaf;
        if (minute === minutes) together.lagSeconds = Math.max(together.lagSeconds, lagSeconds);
      }
    };
    await aws.run(sweeps());
    together.objects += aws.calls.get('HeadObject') ?? 0;
  }
  return together;
}

/** If this test fails because the sweeper has changed, run it with `--update`, and then `npm run generate`. */
test('docs/scale/sweeps.json is what one sweeper finishes in a run, and all sweepers together at a high rate', async () => {
  const finished: Record<string, Sweeps['finished'][string]> = {};
  for (const [memory, share] of Object.entries(SHARES)) finished[memory] = await finishedBy(share);
  const together = await sweepAll(10_000, SHARDS, 2);
  vi.restoreAllMocks();
  await expect(`${JSON.stringify({ finished, together }, null, 2)}\n`).toMatchFileSnapshot(RECORD);
  // Two minutes of tickets, and each of the objects of one.
  expect(together).toMatchObject({ tickets: 1_200_000, objects: 600_000 });
  // Whoever keeps up finds only what has ended since the last sweep.
  expect(together.lagSeconds).toBeLessThanOrEqual(60);
});

test('one sweeper falls behind a rate of tickets that two keep up with', async () => {
  expect((await sweepAll(400, 1, 4)).lagSeconds).toBeGreaterThan(70);
  expect((await sweepAll(400, 2, 4)).lagSeconds).toBeLessThanOrEqual(60);
});
