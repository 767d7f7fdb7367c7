import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { LANES, type Lane } from '../../shared/metrics.ts';
import { type Client, client } from './client.ts';
import { askForTicket, complete, put, type Ticket, uploadStreaming } from './lanes.ts';
import type { StartedProcess } from './start-process.ts';

/** What the service has acknowledged to clients: stored and deleted files, and direct uploads whose bytes have arrived. */
export interface Promised {
  /** File names by id. */
  readonly files: Map<string, string>;
  /** Links of deleted files by id. */
  readonly deleted: Map<string, string>;
  /** Names by id of direct uploads whose bytes are stored, but whose completion was not answered. */
  readonly arrived: Map<string, string>;
}

const CLIENTS = 6;
const LARGE_BYTES = 20 * 1024 * 1024;

/** The content of a file, computed from its name, so that a test can check any file it finds later. */
function contentOf(name: string): Uint8Array<ArrayBuffer> {
  return Buffer.alloc(name.startsWith('large') ? LARGE_BYTES : 10_000, `${name}|`);
}

/**
 * Runs clients that upload small and large files through all lanes without a pause, and ends the service while they do:
 * `after.milliseconds` after `after.uploads` of their uploads were acknowledged. The first client begins with the deletion of an earlier file.
 * @returns the service's exit code.
 */
export async function endDuringUploads(
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
    /** A part of the names of all files of this call. */
    readonly wave: string;
    readonly signal: 'SIGKILL' | 'SIGTERM';
    readonly after: { readonly uploads: number; readonly milliseconds: number };
  },
): Promise<number | null> {
  const byKey = client(service.urls.base_url, { key });
  const { promise: enoughUploads, resolve: onEnoughUploads } = Promise.withResolvers<void>();
  let acknowledged = 0;
  let isDeleted = false;
  let isOver = false;
  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    const lane = LANES[index % LANES.length] as Lane;
    // Inline bodies are small. In each of the other lanes one client sends small files and one sends large files.
    const size = lane === 'inline' || index < LANES.length ? 'small' : 'large';
    if (index === 0) {
      await deletePromised(byKey, promised);
      isDeleted = true;
    }
    for (let turn = 0; !isOver; turn++) {
      const name = `${size} ${lane} ${wave}.${index}.${turn}`;
      await uploadPromised(byKey, lane, name, promised);
      if (++acknowledged >= after.uploads && isDeleted) onEnoughUploads();
    }
  });
  const failures = Promise.allSettled(clients).then((results) => {
    onEnoughUploads();
    return results.flatMap((result) => (result.status === 'rejected' ? result.reason : []));
  });
  await enoughUploads;
  await sleep(after.milliseconds);
  isOver = true;
  const code = await service.end(signal);
  // The only acceptable failure is a connection that ended.
  for (const failure of await failures) expect(failure).toBeInstanceOf(TypeError);
  return code;
}

/** Uploads a file and records each acknowledgement at once. A failed upload is not an error here: the client goes on. */
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

/** Deletes the oldest file, if there is one. If the answer is lost, nothing is known of the file. */
async function deletePromised(byKey: Client, { files, deleted }: Promised): Promise<void> {
  const [id] = files.keys();
  if (id === undefined) return;
  files.delete(id);
  const { status, body } = await byKey.request<{ url: string }>('GET', `/files/${id}`);
  if (!failed(status, 200) && !failed((await byKey.request('DELETE', `/files/${id}`)).status, 200))
    deleted.set(id, body.url);
}

/** Expects a failure to be a 5xx, as it is while the service is ending. */
function failed(status: number, success: number): boolean {
  if (status !== success) expect(status).toBeGreaterThanOrEqual(500);
  return status !== success;
}

/**
 * Completes the direct uploads whose bytes had arrived, and checks that every promised file is listed and has its content, and that no deleted
 * file is listed or served.
 * @returns the sorted names of all files.
 */
export async function expectKept(baseUrl: string, key: string, promised: Promised): Promise<string[]> {
  const byKey = client(baseUrl, { key });
  const completeAll = async () => {
    for (const id of [...promised.arrived.keys()]) await completePromised(byKey, { id }, promised);
    return [...promised.arrived];
  };
  // An attempt that died holds the lease to complete its upload until that ends; meanwhile the answer is 503.
  await expect.poll(completeAll, { interval: 2_000, timeout: 90_000 }).toEqual([]);
  const files = await listAll(byKey);
  expect(files.map(({ id }) => id)).toEqual(expect.arrayContaining([...promised.files.keys()]));
  const listed = new Set(files.map(({ id }) => id));
  for (const [id, url] of promised.deleted) {
    expect([listed.has(id), (await fetch(url)).status], url).toEqual([false, 404]);
  }
  for (const { id, name, url } of files) {
    // A file whose upload was not acknowledged may exist, but must be complete, too.
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
