import { type BenchedService, withLocalService } from './local-service.ts';
import { type Measurement, median } from './measurement.ts';

const SMALL_FILE = Buffer.alloc(4 * 1024, 'x');
const TICKET = { name: 'direct.bin', mime_type: 'application/octet-stream', size_bytes: SMALL_FILE.length };
const CONCURRENCY = 16;
/** Enough requests for a stable rate, and few enough for a slow machine. */
const REQUESTS = { lists: 1_000, uploads: 300 };

/**
 * Measures what each route of the file API needs of AWS in the normal case (calls, sequential calls, capacity units), how
 * fast this machine answers sixteen simultaneous clients, and how long the service takes to start.
 */
export function benchRequests(): Promise<Measurement[]> {
  return withLocalService(async (service) => [
    { metric: 'start of the service', value: service.startedInMs / 1_000, unit: 's' },
    ...(await costs(service)),
    ...(await throughput('GET /files', REQUESTS.lists, () => service.byKey.request('GET', '/files'), 200)),
    ...(await throughput('POST /files of 4 KiB', REQUESTS.uploads, () => service.byKey.upload('a', SMALL_FILE), 201)),
  ]);
}

async function costs(service: BenchedService): Promise<Measurement[]> {
  const { byKey, bus } = service;
  bus.deliverBy(() => {}); // The event function must not complete the tickets.
  const measured = new Map<string, Measurement[]>();
  // Twice, because a new function also reads what it then caches.
  for (let time = 0; time < 2; time++) {
    const measure = async <Answer extends { status: number }>(name: string, request: () => Promise<Answer>) => {
      const mark = service.front.meter.mark();
      const answer = await request();
      if (answer.status >= 300) throw new Error(`${name} was answered ${answer.status}`);
      const { calls, rounds, readUnits, writeUnits } = service.front.meter.since(mark);
      measured.set(name, [
        { metric: `${name}: AWS calls`, value: calls.length, unit: 'calls' },
        { metric: `${name}: sequential AWS calls`, value: rounds, unit: 'rounds' },
        { metric: `${name}: reads`, value: readUnits, unit: 'read units' },
        { metric: `${name}: writes`, value: writeUnits, unit: 'write units' },
      ]);
      return answer;
    };
    const { body } = await measure('POST /files of 4 KiB', () => byKey.upload('a', SMALL_FILE));
    await measure('GET /files', () => byKey.request('GET', '/files'));
    await measure('GET /files/{id}', () => byKey.request('GET', `/files/${body.id}`));
    await measure('DELETE /files/{id}', () => byKey.request('DELETE', `/files/${body.id}`));
    type Ticket = { id: string; upload: { url: string; headers: Record<string, string> } };
    const { body: ticket } = await measure('POST /files for a ticket', () => byKey.postJson<Ticket>('/files', TICKET));
    await fetch(ticket.upload.url, { method: 'PUT', headers: ticket.upload.headers, body: SMALL_FILE });
    await measure('POST /files/{id}/complete', () => byKey.request('POST', `/files/${ticket.id}/complete`));
  }
  return [...measured.values()].flat();
}

async function throughput(
  name: string,
  count: number,
  request: () => Promise<{ status: number }>,
  expected: number,
): Promise<Measurement[]> {
  const times: number[] = [];
  let left = count;
  const work = async () => {
    while (left-- > 0) {
      const start = performance.now();
      const { status } = await request();
      if (status !== expected) throw new Error(`${name} was answered ${status}`);
      times.push(performance.now() - start);
    }
  };
  const workers = () => Promise.all(Array.from({ length: CONCURRENCY }, work));
  // First start all environments of the function, outside the measurement.
  left = CONCURRENCY * 2;
  await workers();
  times.length = 0;
  left = count;
  const start = performance.now();
  await workers();
  const seconds = (performance.now() - start) / 1_000;
  return [
    { metric: `${name}, ${CONCURRENCY} at once: rate`, value: count / seconds, unit: 'requests/s' },
    { metric: `${name}, ${CONCURRENCY} at once: median`, value: median(times), unit: 'ms' },
  ];
}
