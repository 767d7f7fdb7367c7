import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { askForTicket, complete, put, uploadStreaming } from '../test/support/lanes.ts';
import { type BenchedService, newKey, withLocalService } from './local-service.ts';
import { type Measurement, median } from './measurement.ts';
import { useOfProcesses } from './processes.ts';
import type { Load, LoadOutcome } from './send-requests.ts';

const SMALL_FILE = Buffer.alloc(4 * 1024, 'x');
/** Larger than one part of a multipart upload to S3. */
const LARGE_FILE = new Uint8Array(6 * 1024 * 1024);
const CLIENTS = 16;

/** What clients do at the same time, and for how long. Each has a key of its own, or all have the same key. */
interface Phase {
  readonly name: string;
  readonly request: Load['request'];
  readonly clients: number;
  readonly hasOneAccount: boolean;
  readonly seconds: number;
}

const UPLOAD = 'POST /files of 4 KiB';
const PHASES: readonly Phase[] = [
  { name: `GET /files, ${CLIENTS} at once`, request: 'list', clients: CLIENTS, hasOneAccount: true, seconds: 10 },
  { name: `${UPLOAD}, one by one`, request: 'upload', clients: 1, hasOneAccount: true, seconds: 10 },
  { name: `${UPLOAD}, ${CLIENTS} at once`, request: 'upload', clients: CLIENTS, hasOneAccount: true, seconds: 10 },
  {
    name: `${UPLOAD}, each client of its own account, ${CLIENTS} at once`,
    request: 'upload',
    clients: CLIENTS,
    hasOneAccount: false,
    // Long enough for memory to reach the size at which it stays.
    seconds: 60,
  },
];

/**
 * Measures the service on this machine:
 * - what each route of the file API needs of AWS in the normal case: calls, sequential calls and capacity units;
 * - how fast it answers one client and sixteen simultaneous ones, and how much processor time clients, service and engine need for a
 *   request;
 * - how much memory service and engine have after a minute of uploads.
 */
export function benchRequests(): Promise<Measurement[]> {
  return withLocalService(async (service) => {
    const ownKeys = await Promise.all(Array.from({ length: CLIENTS }, () => newKey(service)));
    const measurements = await costs(service);
    for (const phase of PHASES) {
      const keys = phase.hasOneAccount ? Array.from({ length: phase.clients }, () => service.key) : ownKeys;
      measurements.push(...(await throughput(phase, { baseUrl: service.urls.base_url, keys, request: phase.request })));
    }
    const memory = useOfProcesses().bytes / 1e6;
    return [...measurements, { metric: 'memory of service and engine afterwards', value: memory, unit: 'MB' }];
  });
}

/** Calls that were sent together overlap reliably with this delay, so that they count as one round. */
const SLOW = { match: {}, effect: { delayMs: 40 } } as const;

async function costs(service: BenchedService): Promise<Measurement[]> {
  const { byKey, bus, front } = service;
  bus.deliverBy(() => {}); // The event function must not complete the tickets.
  const measured = new Map<string, Measurement[]>();
  const measure = async <Answer extends { status: number }>(name: string, request: () => Promise<Answer>) => {
    const [mark, slow] = [front.meter.mark(), front.faults.add(SLOW)];
    const answer = await request().finally(slow.remove);
    if (answer.status >= 300) throw new Error(`${name} was answered ${answer.status}`);
    const { calls, rounds, readUnits, writeUnits } = front.meter.since(mark);
    const values = { calls: calls.length, rounds, 'write units': writeUnits, 'read units': readUnits };
    measured.set(
      name,
      Object.entries(values).map(([unit, value]) => ({ metric: name, value, unit })),
    );
    return answer;
  };
  // Each request is sent twice, because the first calls of a new function also read values that it then caches. The second results replace
  // the first.
  for (let time = 0; time < 2; time++) await measureEach(byKey, measure);
  return [...measured.values()].flat();
}

type Measure = <Answer extends { status: number }>(name: string, request: () => Promise<Answer>) => Promise<Answer>;

async function measureEach(byKey: BenchedService['byKey'], measure: Measure): Promise<void> {
  const newKey = () => ({ headers: { 'idempotency-key': randomUUID() } });
  const { body } = await measure('inline upload of 4 KiB', () => byKey.upload('a', SMALL_FILE));
  await measure('the same with a new `Idempotency-Key`', () => byKey.upload('a', SMALL_FILE, newKey()));
  await measure('streaming upload of 6 MiB', () => uploadStreaming({ byKey }, 'a', LARGE_FILE));
  await measure('list, page 1', () => byKey.request('GET', '/files'));
  await measure('list, page 2', () => byKey.request('GET', '/files?limit=1&page=2'));
  await measure('search among few files', () => byKey.request('GET', '/files?search=a'));
  await measure('details', () => byKey.request('GET', `/files/${body.id}`));
  await measure('delete', () => byKey.request('DELETE', `/files/${body.id}`));
  const { body: ticket } = await measure('ticket', () => askForTicket(byKey, 'direct', SMALL_FILE.length));
  await put(ticket, SMALL_FILE);
  await measure('complete', () => complete(byKey, ticket));
}

async function throughput({ name, seconds }: Phase, load: Omit<Load, 'seconds'>): Promise<Measurement[]> {
  const clients = fork(join(import.meta.dirname, 'send-requests.ts'));
  const send = async (duration: number): Promise<number[]> => {
    clients.send({ ...load, seconds: duration } satisfies Load);
    const [outcome] = (await once(clients, 'message')) as [LoadOutcome];
    if ('error' in outcome) throw new Error(outcome.error);
    return outcome.times;
  };
  try {
    // First start all environments of the function, outside the measurement.
    await send(1);
    const before = useOfProcesses();
    const start = performance.now();
    const times = await send(seconds);
    const elapsedSeconds = (performance.now() - start) / 1_000;
    const cpuMilliseconds = useOfProcesses().cpuMilliseconds - before.cpuMilliseconds;
    return [
      { metric: name, value: times.length / elapsedSeconds, unit: 'requests/s' },
      { metric: name, value: median(times), unit: 'ms (median)' },
      { metric: name, value: cpuMilliseconds / times.length, unit: 'ms of CPU each' },
    ];
  } finally {
    clients.kill();
    await once(clients, 'exit');
  }
}
