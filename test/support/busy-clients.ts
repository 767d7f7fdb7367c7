import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { LANES, type Lane } from '../../shared/metrics.ts';
import { type Client, client } from './client.ts';
import { askForTicket, complete, put, type Ticket, uploadStreaming } from './lanes.ts';
import type { StartedProcess } from './start-process.ts';

/** What clients were told: that a file is stored, or that its bytes have arrived. */
export interface Promised {
  /** Name by id. */
  readonly files: Map<string, string>;
  /** Names of direct uploads whose completion was not answered, by id. */
  readonly arrived: Map<string, string>;
}

const CLIENTS = 6;
const LARGE_BYTES = 20 * 1024 * 1024;

/** The content of every file follows from its name, so that whatever is there later can be compared. */
export function contentOf(name: string): Uint8Array<ArrayBuffer> {
  return Buffer.alloc(name.startsWith('large') ? LARGE_BYTES : 10_000, `${name}|`);
}

/**
 * Clients that upload small and large files through all lanes, one after the other, until the service is ended under them:
 * so many milliseconds after so many of their uploads were acknowledged.
 * @returns the exit code.
 */
export async function endAmidUploads(
  service: StartedProcess,
  {
    key,
    promised,
    wave,
    signal,
    after,
  }: {
    readonly key: string;
    readonly promised: Promised;
    /** In the names of its files. */
    readonly wave: string;
    readonly signal: 'SIGKILL' | 'SIGTERM';
    readonly after: { readonly uploads: number; readonly milliseconds: number };
  },
): Promise<number | null> {
  const byKey = client(service.urls.base_url, { key });
  const { promise: isTime, resolve: itIsTime } = Promise.withResolvers<void>();
  let acknowledged = 0;
  let isOver = false;
  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    const lane = LANES[index % LANES.length] as Lane;
    // Inline bodies are small; of the other lanes one client sends small files and one large ones.
    const size = lane === 'inline' || index < LANES.length ? 'small' : 'large';
    for (let turn = 0; !isOver; turn++) {
      const name = `${size} ${lane} ${wave}.${index}.${turn}`;
      await uploadPromised(byKey, lane, name, promised);
      if (++acknowledged === after.uploads) itIsTime();
    }
  });
  const failures = Promise.allSettled(clients).then((results) => {
    itIsTime();
    return results.flatMap((result) => (result.status === 'rejected' ? result.reason : []));
  });
  await isTime;
  await sleep(after.milliseconds);
  isOver = true;
  const code = await service.end(signal);
  // Nothing but the end of their connections.
  for (const failure of await failures) expect(failure).toBeInstanceOf(TypeError);
  return code;
}

/** Uploads a file and writes down what was promised, as soon as it was. Whoever is told of a failure goes on. */
async function uploadPromised(byKey: Client, lane: Lane, name: string, promised: Promised): Promise<void> {
  const content = contentOf(name);
  if (lane === 'direct') {
    const { status, body: ticket } = await askForTicket(byKey, name, content.length);
    if (failed(status, 202) || failed(await put(ticket, content), 200)) return;
    promised.arrived.set(ticket.id, name);
    await completePromised(byKey, ticket, promised);
    return;
  }
  const { status, body } = await (lane === 'inline'
    ? byKey.upload(name, content)
    : uploadStreaming({ byKey }, name, content));
  if (!failed(status, 201)) promised.files.set(String(body.id), name);
}

async function completePromised(byKey: Client, { id }: Pick<Ticket, 'id'>, promised: Promised): Promise<void> {
  const { status } = await complete(byKey, { id });
  if (failed(status, 201)) return;
  promised.files.set(id, promised.arrived.get(id) ?? '');
  promised.arrived.delete(id);
}

/** Only the service may fail, as it does when it is ending. */
function failed(status: number, success: number): boolean {
  if (status !== success) expect(status).toBeGreaterThanOrEqual(500);
  return status !== success;
}

/** Clients come back: complete what had arrived, and find every file they were promised, byte for byte. */
export async function expectKept(baseUrl: string, key: string, promised: Promised): Promise<string[]> {
  const byKey = client(baseUrl, { key });
  for (const id of [...promised.arrived.keys()]) await completePromised(byKey, { id }, promised);
  expect([...promised.arrived]).toEqual([]);
  const files = await listAll(byKey);
  expect(files.map(({ id }) => id)).toEqual(expect.arrayContaining([...promised.files.keys()]));
  for (const { id, name, url } of files) {
    // Nobody was promised those whose upload was cut short, but they must be whole, too.
    expect(promised.files.get(id) ?? name).toBe(name);
    const content = Buffer.from(await (await fetch(url)).arrayBuffer());
    expect(content.equals(contentOf(name)), name).toBe(true);
  }
  return files.map(({ name }) => name).sort();
}

interface ListedFile {
  readonly id: string;
  readonly name: string;
  readonly url: string;
}

async function listAll(byKey: Client): Promise<ListedFile[]> {
  const files: ListedFile[] = [];
  for (let page = 1; ; page++) {
    const { status, body } = await byKey.request<{ items: ListedFile[]; total: number }>(
      'GET',
      `/files?limit=100&page=${page}`,
    );
    expect(status).toBe(200);
    files.push(...body.items);
    if (body.items.length < 100) return files;
  }
}
