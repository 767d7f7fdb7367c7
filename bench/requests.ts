import { randomUUID } from 'node:crypto';
import { client } from '../test/support/client.ts';
import { askForTicket, complete, put, uploadStreaming } from '../test/support/lanes.ts';
import { type BenchedService, newKey, withLocalService } from './local-service.ts';
import { type Measurement, median } from './measurement.ts';
import { useOfProcesses } from './processes.ts';
import { COST_COLUMNS } from './results.ts';

const SMALL_FILE = Buffer.alloc(4 * 1024, 'x');
/** More than fits into one part. */
const LARGE_FILE = new Uint8Array(6 * 1024 * 1024);
const CLIENTS = 16;
/** How many clients request at once, and for how long. The last load is long enough to show what memory grows to. */
const LOADS = {
  lists: { clients: CLIENTS, seconds: 10 },
  oneByOne: { clients: 1, seconds: 10 },
  ofOneAccount: { clients: CLIENTS, seconds: 10 },
  uploads: { clients: CLIENTS, seconds: 60 },
};

/**
 * Measures what each route of the file API needs of AWS in the normal case (calls, sequential calls, capacity units), how
 * fast this machine answers one client and sixteen simultaneous ones, what processor time that takes of all processes together
 * (clients, service and engine), and how long the service takes to start.
 */
export function benchRequests(): Promise<Measurement[]> {
  return withLocalService(async (service) => {
    const list = { name: 'GET /files', expected: 200, send: () => service.byKey.request('GET', '/files') };
    const uploadName = 'POST /files of 4 KiB';
    const upload = { name: uploadName, expected: 201, send: () => service.byKey.upload('a', SMALL_FILE) };
    const accounts = await Promise.all(
      Array.from({ length: CLIENTS }, async () => client(service.urls.base_url, { key: await newKey(service) })),
    );
    const ofAccounts = {
      name: `${uploadName}, each client of its own account`,
      expected: 201,
      send: (index: number) => (accounts[index] ?? service.byKey).upload('a', SMALL_FILE),
    };
    return [
      { metric: 'start of the service', value: service.startedInMs / 1_000, unit: 's' },
      ...(await costs(service)),
      ...(await throughput(list, LOADS.lists)),
      ...(await throughput(upload, LOADS.oneByOne)),
      ...(await throughput(upload, LOADS.ofOneAccount)),
      ...(await throughput(ofAccounts, LOADS.uploads)),
      { metric: 'memory of all processes afterwards', value: useOfProcesses().bytes / 1e6, unit: 'MB' },
    ];
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
    const columns = COST_COLUMNS.map((unit) => ({ metric: `${name}: ${unit}`, value: values[unit], unit }));
    measured.set(name, columns);
    return answer;
  };
  // Twice, because a new function also reads what it then caches.
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

interface Request {
  readonly name: string;
  /** @param index  the number of the client, from 0 on. */
  readonly send: (index: number) => Promise<{ readonly status: number }>;
  readonly expected: number;
}

async function throughput(
  request: Request,
  { clients, seconds }: { readonly clients: number; readonly seconds: number },
): Promise<Measurement[]> {
  // First start all environments of the function, outside the measurement.
  await sendFor(1, { request, clients });
  const before = useOfProcesses();
  const start = performance.now();
  const times = await sendFor(seconds, { request, clients });
  const elapsedSeconds = (performance.now() - start) / 1_000;
  const cpuMilliseconds = useOfProcesses().cpuMilliseconds - before.cpuMilliseconds;
  const what = `${request.name}, ${clients === 1 ? 'one by one' : `${clients} at once`}`;
  return [
    { metric: `${what}: rate`, value: times.length / elapsedSeconds, unit: 'requests/s' },
    { metric: `${what}: median`, value: median(times), unit: 'ms' },
    { metric: `${what}: processor time of a request`, value: cpuMilliseconds / times.length, unit: 'ms' },
  ];
}

/** @returns the milliseconds that each request took. */
async function sendFor(
  seconds: number,
  { request: { name, send, expected }, clients }: { readonly request: Request; readonly clients: number },
): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + seconds * 1_000;
  const work = async (_: unknown, index: number) => {
    for (let start = performance.now(); start < end; start = performance.now()) {
      const { status } = await send(index);
      if (status !== expected) throw new Error(`${name} was answered ${status}`);
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
  return times;
}
