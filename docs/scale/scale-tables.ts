import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { THROTTLES } from '../../infra/constructs/gateway-stage.ts';
import { CONFIGURABLE_LIMITS, SHARDS } from '../../shared/contract/limits.ts';
import { LEAF_SEQS } from '../../shared/files/listing-counters.ts';
import { ASSUMPTIONS } from '../costs/assumptions.ts';
import { DAY_MINUTES, DAYS_PER_MONTH, type Table } from '../costs/cost-tables.ts';
import { costOf, costOfRequests, METERED, totalOf } from '../costs/costs.ts';
import { LOOKED_UP, QUOTAS } from './quotas.ts';

/** docs/scale/sweeps.json, which `test/shared/files/scale.soak.ts` records. */
export interface Sweeps {
  /** What one run of the sweeper finishes when there is more of one kind than it can do, by the memory of its function. */
  readonly finished: Readonly<Record<string, Readonly<Record<keyof typeof WORK, number>>>>;
  /** What several sweepers finished of all kinds, in some minutes at a rate of tickets. */
  readonly together: {
    readonly ticketsPerSecond: number;
    readonly sweepers: number;
    readonly minutes: number;
    readonly tickets: number;
    readonly seals: number;
    readonly objects: number;
    /** How late the last sweep of any of them was. */
    readonly lagSeconds: number;
  };
}

/** The kinds of work. */
const WORK = {
  leftovers: 'Tickets that became files',
  ofOneAccount: 'Tickets that became files, all of one account',
  abandoned: 'Tickets that ended without a file',
  deletions: 'Deletions that their requests did not finish',
  seals: 'Seals of 64 names',
  objects: 'Objects compared with their rows',
  pages: 'Pages of 1,000 keys, listed',
} as const;

const { finished: FINISHED, together: TOGETHER } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'sweeps.json'), 'utf8'),
) as Sweeps;

type Lane = 'inline' | 'direct';
const LANES = ['inline', 'direct'] as const;

const PAGE_KEYS = 1_000;
const MINUTE = 60;
const MONTH_SECONDS = DAYS_PER_MONTH * 86_400;
/** What the sweeper writes for the ticket of a direct upload: it removes the row. */
const SWEPT_TICKET_WRITE_UNITS = 1;
/**
 * What a direct upload writes in the partition of its ticket at most: the row (2 units, in a transaction), the lease of the attempt, the refused
 * lease of a second attempt (for the event of the bucket, or for the client), the state (2), and the removal.
 */
const TICKET_WRITE_UNITS = 2 + 1 + 1 + 2 + SWEPT_TICKET_WRITE_UNITS;
const FILE_GB = 102_400 / 1e9;
/** The memory of the deployed sweeper. */
const MEMORY = `${METERED.monthlyResources.memoryMb.Sweep?.toLocaleString('en-US')} MB`;

const OF_ONE_ACCOUNT = 'decisions/0024-the-transaction-gives-the-place.md';
const ANOTHER_STAGE =
  'none: what one stage takes at most ([decision 0045](decisions/0045-128-shards-for-the-sweeper.md)). Another stage takes as much again';

const count = (amount: number) => Number(amount.toPrecision(2)).toLocaleString('en-US');
const usd = (amount: number) => `$${count(amount)}`;

/** How many uploads a second one sweeper keeps up with: each upload leaves a 64th of a seal, an object to compare, and perhaps a ticket. */
function keptUp(lane: Lane, memory: string): number {
  const { leftovers, seals, objects } = finishedWith(memory);
  const sweepsPerUpload = 1 / LEAF_SEQS / seals + 1 / objects + (lane === 'direct' ? 1 / leftovers : 0);
  return 1 / sweepsPerUpload / MINUTE;
}

/** How many sweepers a rate needs. One of them has more shards than the others, unless their number divides that of the shards. */
function sweepersFor(rate: number, lane: Lane): number | undefined {
  const numbers = Array.from({ length: SHARDS }, (_, index) => index + 1);
  return numbers.find((sweepers) => (rate * Math.ceil(SHARDS / sweepers)) / SHARDS <= keptUp(lane, MEMORY));
}

function finishedWith(memory: string): Sweeps['finished'][string] {
  const finished = FINISHED[memory];
  if (!finished) throw new Error(`docs/scale/sweeps.json does not say what a sweeper with ${memory} finishes`);
  return finished;
}

/** What the sweeper finishes in a run, and the rates that it keeps up with. */
export function sweeps(): Table {
  const memories = Object.keys(FINISHED);
  const row = (what: string, amount: (memory: string) => number) => [
    what,
    ...memories.map((name) => count(amount(name))),
  ];
  return {
    head: ['In a run', ...memories.map((memory) => (memory === MEMORY ? `${memory} (deployed)` : memory))],
    rows: [
      ...Object.entries(WORK).map(([kind, what]) => row(what, (name) => finishedWith(name)[kind as keyof typeof WORK])),
      row('**Inline uploads a second**', (name) => keptUp('inline', name)),
      row('**Direct uploads a second**', (name) => keptUp('direct', name)),
      row('**Abandoned tickets a second**', (name) => finishedWith(name).abandoned / MINUTE),
    ],
  };
}

/** What was simulated of several sweepers. */
export function together(): string {
  const { ticketsPerSecond, sweepers, minutes, tickets, seals, objects, lagSeconds } = TOGETHER;
  const all = [tickets, seals, objects].map((amount) => amount.toLocaleString('en-US'));
  return `\`test/shared/files/scale.soak.ts\` lets ${ticketsPerSecond.toLocaleString('en-US')} tickets a second end for ${minutes} minutes, one in ten without a file, and runs all ${sweepers} sweepers, one after the other: they finish ${all[0]} tickets and ${all[1]} seals, and compare ${all[2]} objects, the uploads of one minute. At the last sweep nothing has been due for longer than ${Math.ceil(lagSeconds)} s. It also shows that one sweeper falls behind at a rate that two keep up with.`;
}

interface Bound {
  readonly what: string;
  /** Uploads a second; undefined when the bound is not one for this lane. */
  readonly at: Readonly<Record<Lane, number | undefined>>;
  readonly symptom: string;
  readonly knob: string;
}

function bounds(): Bound[] {
  const { inline, direct } = METERED.requests;
  const perUpload = (amount: number, used: (request: typeof inline) => number) => ({
    inline: amount / used(inline),
    direct: amount / used(direct),
  });
  const written = (amount: number) => ({
    inline: amount / inline.writeUnits,
    direct: amount / (direct.writeUnits + SWEPT_TICKET_WRITE_UNITS),
  });
  const seconds = ASSUMPTIONS.billedMs / 1_000;
  const directSeconds = 2 * seconds + (ASSUMPTIONS.billedMsOf.CompleteUpload ?? 0) / 1_000;
  const throttled = 'API Gateway answers 429; alarm GatewayThrottles';
  const busy = '503 `service_unavailable` after retries; alarm ApiBudgetFast';
  const late =
    '`lagSeconds` in the lines `swept` grows; alarm SweeperLag. Requests are not affected; room is given back late';
  return [
    {
      what: 'Sweeper, one',
      at: { inline: keptUp('inline', MEMORY), direct: keptUp('direct', MEMORY) },
      symptom: late,
      knob: `\`sweepers\` of the stage, up to ${SHARDS}`,
    },
    {
      what: `Sweepers, as many as there can be (${SHARDS})`,
      at: { inline: SHARDS * keptUp('inline', MEMORY), direct: SHARDS * keptUp('direct', MEMORY) },
      symptom: late,
      knob: ANOTHER_STAGE,
    },
    {
      what: 'Throttle of the route (`POST /files`, or `POST /uploads/{id}/complete`)',
      at: { inline: THROTTLES.uploads.throttlingRateLimit, direct: THROTTLES.requests.throttlingRateLimit },
      symptom: throttled,
      knob: '`THROTTLES` in `infra/constructs/gateway-stage.ts`, after the concurrency was raised',
    },
    {
      what: 'A new table',
      at: written(QUOTAS.newTable.amount),
      symptom: busy,
      knob: QUOTAS.newTable.knob,
    },
    {
      what: 'Concurrency of Lambda, at the assumed durations',
      at: { inline: QUOTAS.concurrency.amount / seconds, direct: QUOTAS.concurrency.amount / directSeconds },
      symptom: '5xx; alarms Concurrency and ApiBudgetFast',
      knob: QUOTAS.concurrency.knob,
    },
    {
      what: 'S3, before it has divided the keys',
      at: perUpload(QUOTAS.prefix.amount, ({ s3Writes }) => s3Writes),
      symptom: '503 `service_unavailable` after retries; alarm ApiBudgetFast',
      knob: QUOTAS.prefix.knob,
    },
    {
      what: 'EventBridge',
      at: { inline: undefined, direct: QUOTAS.events.amount },
      symptom: 'uploads that their client does not complete become files later',
      knob: QUOTAS.events.knob,
    },
    {
      what: `Partitions of tickets (${SHARDS})`,
      at: { inline: undefined, direct: (SHARDS * QUOTAS.partition.amount) / TICKET_WRITE_UNITS },
      symptom: busy,
      knob: ANOTHER_STAGE,
    },
    {
      what: 'A table',
      at: written(QUOTAS.table.amount),
      symptom: busy,
      knob: QUOTAS.table.knob,
    },
    {
      what: 'API Gateway, all APIs of the account',
      at: perUpload(QUOTAS.gateway.amount, ({ apiRequests }) => apiRequests),
      symptom: throttled,
      knob: QUOTAS.gateway.knob,
    },
    {
      what: 'CloudFront',
      at: perUpload(QUOTAS.edge.amount, ({ apiRequests }) => apiRequests),
      symptom: 'errors of CloudFront',
      knob: QUOTAS.edge.knob,
    },
  ];
}

/** What is full at which rate of uploads, the first first. */
export function fullFirst(): Table {
  const lowest = ({ at }: Bound) =>
    Math.min(at.inline ?? Number.POSITIVE_INFINITY, at.direct ?? Number.POSITIVE_INFINITY);
  return {
    head: ['Resource', 'Inline uploads a second', 'Direct uploads a second', 'Symptom', 'Knob'],
    rows: bounds()
      .sort((one, other) => lowest(one) - lowest(other))
      .map(({ what, at, symptom, knob }) => [
        what,
        ...LANES.map((lane) => (at[lane] === undefined ? '–' : count(at[lane]))),
        symptom,
        knob,
      ]),
  };
}

/** The rates of the page: what is full, how many sweepers they need, what a month costs. */
export function rates(): Table {
  return {
    head: [
      'Uploads a second, all day',
      'Full, the first first',
      'Sweepers',
      'Requests, a month',
      'Storage of one month of files of 100 KiB, a month',
    ],
    rows: [1, 100, 10_000].flatMap((rate) =>
      LANES.map((lane) => {
        const boundOf = ({ at }: Bound) => at[lane] ?? Number.POSITIVE_INFINITY;
        const full = bounds()
          .filter((bound) => boundOf(bound) < rate)
          .sort((one, other) => boundOf(one) - boundOf(other));
        const uploads = rate * MONTH_SECONDS;
        // The sweeper compares each object by a HEAD and a strong read, removes the tickets, and writes a seal for 64 files.
        const swept =
          (lane === 'direct' ? costOf('writeUnit', uploads * SWEPT_TICKET_WRITE_UNITS) : 0) +
          costOf('objectRead', uploads) +
          costOf('readUnit', uploads) +
          totalOf(costOfRequests('seal', uploads / LEAF_SEQS));
        return [
          `${rate.toLocaleString('en-US')} ${lane}`,
          full.map(({ what }) => what.replace(/[,(].*/, '').trim()).join(', ') || 'nothing',
          String(sweepersFor(rate, lane) ?? `more than ${SHARDS}, which is more than there can be`),
          usd(totalOf(costOfRequests(lane, uploads)) + swept),
          usd(costOf('objectStorage', uploads * FILE_GB)),
        ];
      }),
    ),
  };
}

/** How many uploads of one account are made in a second at most, as the record of the simulation says (`bench/concurrent-uploads.ts`). */
function uploadsOfOneAccount(): number {
  const record = readFileSync(join(import.meta.dirname, '..', OF_ONE_ACCOUNT), 'utf8');
  const rate = /^\| \*\*.*\/ (\d+)\/s \|$/m.exec(record)?.[1];
  if (rate === undefined) throw new Error(`${OF_ONE_ACCOUNT} has no row in bold that ends with a rate`);
  return Number(rate);
}

/** What stored files and accounts need. */
export function stored(): Table {
  const pagesADay = finishedWith(MEMORY).pages * DAY_MINUTES;
  const files = (amount: number): string[] => {
    const pages = amount / PAGE_KEYS;
    const listing = costOf('objectWrite', pages * DAYS_PER_MONTH);
    const rows = costOf('tableStorage', amount / 1e6) + costOf('tableRecovery', amount / 1e6);
    return [
      `${amount.toLocaleString('en-US')} files of 100 KiB`,
      `the daily walk of the bucket: ${count(pages)} pages; one sweeper without other work lists ${count(pagesADay)} a day`,
      'alarm SweeperLag: a walk that takes longer than a day. Lost bytes are removed later, nothing else',
      `\`sweepers\`: ${Math.ceil(pages / pagesADay)} for the walk alone`,
      `${usd(costOf('objectStorage', amount * FILE_GB))} objects, ${usd(rows)} rows, ${usd(listing)} lists`,
    ];
  };
  const { FILE_COUNT_LIMIT: limit, RATE_LIMIT_UPLOADS_PER_MINUTE: perMinute } = CONFIGURABLE_LIMITS;
  return {
    head: ['Amount', 'What is full first', 'Symptom', 'Knob', 'A month'],
    rows: [
      files(1e6),
      files(1e9),
      [
        '100,000 accounts',
        'nothing: each has its own partitions, and no request reads more than its own account',
        '–',
        '–',
        usd(costOf('tableStorage', 0.1) + costOf('tableRecovery', 0.1)),
      ],
      [
        'one giant account',
        `its limits (${perMinute.default} uploads a minute, ${count(limit.default)} files); then its row, which takes one upload after the other: ${uploadsOfOneAccount()} a second in the simulation of [decision 0024](${OF_ONE_ACCOUNT}); then the sweep of its tickets, which are in one shard: ${count(finishedWith(MEMORY).ofOneAccount / MINUTE)} direct uploads a second; then its partition of 10 GB: ${count(limit.max)} files`,
        '429 `rate_limit_exceeded`, and [the refusals for full accounts](api.md); beyond the row, 503 `service_unavailable`. Other accounts do not notice',
        '`limits.RATE_LIMIT_UPLOADS_PER_MINUTE`, `limits.FILE_COUNT_LIMIT`; a second account',
        'as other files; searches among many files: [costs](operate.md#what-it-costs)',
      ],
    ],
  };
}

/** The quotas, with their sources. */
export function quotas(): Table {
  return {
    head: ['Quota', 'Source'],
    rows: Object.values(QUOTAS).map(({ amount, what, page }) => [
      `${amount.toLocaleString('en-US')} ${what}`,
      `[AWS](${page})`,
    ]),
  };
}

/** What the simulation assumes. */
export function assumed(): string {
  const { databaseMs, storageMs, callCpuMs, pageCpuMs, sweepMs } = ASSUMPTIONS.sweeping;
  return `Quotas looked up on ${LOOKED_UP}, for a new account; prices and assumed durations are those of [the operator's page](operate.md#what-it-costs). The sweeper is simulated: its real code runs against tables and a bucket in memory, by a clock that jumps. Assumed, not measured on AWS: a call to DynamoDB takes ${databaseMs} ms, to S3 ${storageMs} ms; a call needs ${callCpuMs} ms of a whole processor, a page of keys ${pageCpuMs} ms; a sweep works for ${sweepMs / 1_000} s of each minute.`;
}
