import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { LANES, type Lane } from '../../shared/metrics.ts';
import { type Client, client } from './client.ts';
import { askForTicket, complete, put, type Ticket, uploadStreaming } from './lanes.ts';
import type { StartedProcess } from './start-process.ts';
import { type Exchange, KINDS_OF_MIXED, sendMixed } from './traffic.ts';

/** What clients do that the service acknowledges. */
export const ACTS = [...LANES, 'deletion', 'cancellation'] as const;
type Act = (typeof ACTS)[number];

/** An account whose clients keep what the service has acknowledged to them. */
export interface JudgedAccount {
  readonly key: string;
  /** The size of its files; those that are sent inline are always small. */
  readonly size: 'small' | 'large';
  /** How often each act was acknowledged. */
  readonly acknowledged: Record<Act, number>;
  /** The names of stored files by id. */
  readonly files: Map<string, string>;
  /** The links of deleted files by id. */
  readonly deleted: Map<string, string>;
  /** The names, by id, of direct uploads whose bytes are stored, but whose completion was not answered. */
  readonly arrived: Map<string, string>;
  /** The ids of cancelled direct uploads. */
  readonly cancelled: Set<string>;
}

export const judgedAccount = (key: string, size: JudgedAccount['size']): JudgedAccount => ({
  key,
  size,
  acknowledged: Object.fromEntries(ACTS.map((act) => [act, 0])) as Record<Act, number>,
  files: new Map(),
  deleted: new Map(),
  arrived: new Map(),
  cancelled: new Set(),
});

const LARGE_BYTES = 20 * 1024 * 1024;

/** The content of a file, computed from its name, so that a test can check any file it finds later. */
function contentOf(name: string): Uint8Array<ArrayBuffer> {
  return Buffer.alloc(name.startsWith('large') ? LARGE_BYTES : 10_000, `${name}|`);
}

/** Of each other account. A round of its requests is ten. */
const MIXED_REQUESTS_PER_SECOND = 20;
/** More than any wave takes. */
const MIXED_SECONDS = 600;

interface Wave {
  readonly judged: readonly JudgedAccount[];
  /** The keys of accounts that send mixed traffic. */
  readonly others: readonly string[];
  /** A part of the names of all files of this wave. */
  readonly name: string;
  readonly signal: 'SIGKILL' | 'SIGTERM';
  readonly milliseconds: number;
}

/**
 * Runs clients that upload, delete and cancel without a pause, and other accounts that send mixed traffic. Ends the service while they do:
 * `milliseconds` after each act was acknowledged, and each kind of request of the others was answered.
 * @returns the service's exit code, and what was answered to the other accounts.
 */
export async function endDuringTraffic(
  service: StartedProcess,
  { judged, others, name, signal, milliseconds }: Wave,
): Promise<{ readonly code: number | null; readonly exchanges: readonly Exchange[] }> {
  const exchanges: Exchange[] = [];
  const before = structuredClone(judged.map(({ acknowledged }) => acknowledged));
  const isDone = (account: JudgedAccount, act: Act) =>
    account.acknowledged[act] > (before[judged.indexOf(account)]?.[act] ?? 0);
  let isOver = false;
  const clients = judged.flatMap((account, index) =>
    LANES.map(async (lane) => {
      const byKey = client(service.urls.base_url, { key: account.key });
      const size = lane === 'inline' ? 'small' : account.size;
      for (let turn = 0; !isOver; turn++) {
        const acts = [
          () => upload(byKey, lane, `${size} ${lane} ${name}.${turn}`, account),
          async () => {
            if (lane === 'inline' && !isDone(account, 'deletion')) await deleteOldest(byKey, account);
            if (lane === 'direct') await cancel(byKey, `cancelled ${name}.${turn}`, account, turn % 2 === 1);
          },
        ];
        // The accounts begin with different acts, so that all are soon under way.
        for (const act of index % 2 === 0 ? acts : acts.toReversed()) await act();
      }
    }),
  );
  const traffic = {
    rootUrl: service.urls.root_url,
    requestsPerSecond: MIXED_REQUESTS_PER_SECOND,
    connections: 1,
    seconds: MIXED_SECONDS,
    endsWithService: true,
  } as const;
  const mixed = others.map((key, index) => sendMixed({ ...traffic, key }, exchanges, index));
  // One that ends by itself has failed, and then nothing is gained by waiting.
  const firstEnd = Promise.race([...clients, ...mixed]).finally(() => {
    isOver = true;
  });
  const failures = Promise.allSettled([firstEnd, ...clients]).then((results) =>
    results.flatMap((result) => (result.status === 'rejected' ? result.reason : [])),
  );
  const isBusy = () =>
    ACTS.every((act) => judged.some((account) => isDone(account, act))) &&
    KINDS_OF_MIXED.isSubsetOf(new Set(exchanges.map(({ kind }) => kind)));
  while (!isBusy() && !isOver) await sleep(20);
  await sleep(milliseconds);
  isOver = true;
  const code = await service.end(signal);
  // The only acceptable failure is a connection that ended.
  for (const failure of await failures) expect(failure).toBeInstanceOf(TypeError);
  await Promise.all(mixed);
  return { code, exchanges };
}

/** Uploads a file and records each acknowledgement at once. A failed upload is not an error here: the client goes on. */
async function upload(byKey: Client, lane: Lane, name: string, account: JudgedAccount): Promise<void> {
  const content = contentOf(name);
  if (lane === 'direct') {
    const { status, body: ticket } = await askForTicket(byKey, name, content.length);
    if (failed(status, 202) || failed(await put(ticket, content), 200)) return;
    account.arrived.set(ticket.id, name);
    await completeArrived(byKey, ticket, account);
    return;
  }
  const { status, body } = await (lane === 'inline'
    ? byKey.upload(name, content)
    : uploadStreaming({ byKey }, name, content));
  if (failed(status, 201)) return;
  account.files.set(String(body.id), name);
  account.acknowledged[lane]++;
}

async function completeArrived(byKey: Client, { id }: Pick<Ticket, 'id'>, account: JudgedAccount): Promise<void> {
  const { status } = await complete(byKey, { id });
  if (failed(status, 201)) return;
  account.files.set(id, account.arrived.get(id) ?? '');
  account.arrived.delete(id);
  account.acknowledged.direct++;
}

/** Asks for a ticket and cancels it, perhaps after its bytes. Then their arrival may complete the upload first, which makes a file. */
async function cancel(byKey: Client, name: string, account: JudgedAccount, isSent: boolean): Promise<void> {
  const content = contentOf(name);
  const { status, body: ticket } = await askForTicket(byKey, name, content.length);
  if (failed(status, 202) || (isSent && failed(await put(ticket, content), 200))) return;
  const answer = await byKey.request('DELETE', `/uploads/${ticket.id}`);
  if (isSent && answer.status === 404) {
    account.arrived.set(ticket.id, name);
    await completeArrived(byKey, ticket, account);
    return;
  }
  if (failed(answer.status, 200)) return;
  account.cancelled.add(ticket.id);
  account.acknowledged.cancellation++;
}

/** Deletes the oldest file, if there is one. If the answer is lost, nothing is known of the file. */
async function deleteOldest(byKey: Client, { files, deleted, acknowledged }: JudgedAccount): Promise<void> {
  const [id] = files.keys();
  if (id === undefined) return;
  files.delete(id);
  const { status, body } = await byKey.request<{ url: string }>('GET', `/files/${id}`);
  if (failed(status, 200) || failed((await byKey.request('DELETE', `/files/${id}`)).status, 200)) return;
  deleted.set(id, body.url);
  acknowledged.deletion++;
}

/** Expects a failure to be a 5xx, as it is while the service is ending. */
function failed(status: number, success: number): boolean {
  if (status !== success) expect(status).toBeGreaterThanOrEqual(500);
  return status !== success;
}

/**
 * Completes the direct uploads whose bytes had arrived, and compares what the service shows with what it has acknowledged.
 * @returns the sorted names of all files; and a sentence for each file that is not listed and served with its content, each file that is
 * shown although it was deleted, and each upload that was cancelled and goes on.
 */
export async function compareWithPromised(
  baseUrl: string,
  account: JudgedAccount,
): Promise<{ readonly names: readonly string[]; readonly losses: readonly string[] }> {
  const byKey = client(baseUrl, { key: account.key });
  const completeAll = async () => {
    for (const id of [...account.arrived.keys()]) await completeArrived(byKey, { id }, account);
    return [...account.arrived];
  };
  // An attempt that died holds the lease to complete its upload until that ends; meanwhile the answer is 503.
  await expect.poll(completeAll, { interval: 2_000, timeout: 90_000 }).toEqual([]);
  const files = await listAll(byKey);
  const listed = new Set(files.map(({ id }) => id));
  const losses = [...account.files].filter(([id]) => !listed.has(id)).map(([, name]) => `${name} is not listed`);
  for (const [id, url] of account.deleted) {
    if (listed.has(id)) losses.push(`${url} is deleted and listed`);
    if ((await fetch(url)).status !== 404) losses.push(`${url} is deleted and served`);
  }
  for (const id of account.cancelled) {
    const { status } = await complete(byKey, { id });
    if (listed.has(id) || status !== 404) losses.push(`the upload ${id} is cancelled, and its completion is ${status}`);
  }
  for (const { id, name, url } of files) {
    // A file whose upload was not acknowledged may exist, but must be complete, too.
    const expected = account.files.get(id) ?? name;
    const content = Buffer.from(await (await fetch(url)).arrayBuffer());
    if (name !== expected || !content.equals(contentOf(name))) losses.push(`${expected} has another name or content`);
  }
  return { names: files.map(({ name }) => name).sort(), losses };
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
