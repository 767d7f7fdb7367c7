import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeMachine } from '../../bench/results.ts';
import { percentile, writeLoadFigures } from '../../docs/load/load-figures.ts';
import { logIn } from '../../local-aws/identity-provider/log-in.ts';
import { CONFIGURABLE_LIMITS } from '../../shared/contract/limits.ts';
import { client } from '../support/client.ts';
import { beginRecordedRun } from '../support/record.ts';
import { engineOn, type StartedProcess, startProcess } from '../support/start-process.ts';
import { type Exchange, sendMixed, sendUploads } from '../support/traffic.ts';
import { openHandles, residentBytes } from './process-use.ts';
import { departuresFromLimit } from './window.ts';

/**
 * Nine honest accounts and one abusive account use `npm start` at the same time. With `LOAD_MINUTES=10` they do so for ten minutes, and the
 * figures of docs/load.md are written; otherwise for a minute.
 */
const MINUTES = Number(process.env.LOAD_MINUTES ?? 0);
const SLICE_SECONDS = 15;
const SLICES = MINUTES > 0 ? MINUTES * 4 : 4;
const HONEST = 9;
const HONEST_PER_SECOND = 1;
/** Ten times what the limit of uploads admits. */
const ABUSIVE_PER_SECOND = 10;

const run = MINUTES >= 10 ? beginRecordedRun() : undefined;
let dataDir: string;
let service: StartedProcess;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'load-'));
  service = await startProcess(dataDir, {});
});
afterAll(async () => {
  await service.end('SIGTERM');
  await rm(dataDir, { recursive: true, force: true });
});

async function newKey(name: string): Promise<string> {
  const { base_url } = service.urls;
  const { cookies } = await logIn({ startUrl: `${base_url}/auth/google`, email: `${name}@example.com` });
  return String((await client(base_url, { cookie: cookies }).postJson('/api-keys', { name })).body.key);
}

test('honest accounts are served, an abusive one gets exactly what its limit admits, and a warm service does not grow', async () => {
  const rootUrl = service.urls.root_url;
  const enginePid = engineOn(dataDir);
  const keys: string[] = [];
  for (let account = 0; account < HONEST; account++) keys.push(await newKey(`honest-${account}`));
  const abusiveKey = await newKey('abusive');
  const traffic = { rootUrl, requestsPerSecond: HONEST_PER_SECOND, connections: 1 };
  // The first requests start the functions.
  await Promise.all(keys.map((key) => sendMixed({ ...traffic, key, seconds: SLICE_SECONDS }, [])));

  const honest: Exchange[] = [];
  const abusive: Exchange[] = [];
  /** When the abusive account was sending. */
  const spans: { from: number; to: number }[] = [];
  const uses: { service: number; engine: number; handles: number }[] = [];
  const isOver = new AbortController();
  const watching = (async () => {
    while (!isOver.signal.aborted) {
      uses.push({
        service: residentBytes(service.pid),
        engine: residentBytes(enginePid),
        handles: openHandles(service.pid),
      });
      await sleep(1_000);
    }
  })();
  const all = keys.map((key) => sendMixed({ ...traffic, key, seconds: SLICES * SLICE_SECONDS }, honest));
  // Every other slice is without the abusive account, so that whatever else the machine does slows both down.
  for (let slice = 0; slice < SLICES / 2; slice++) {
    await sleep(SLICE_SECONDS * 1_000);
    const from = performance.now();
    const flood = {
      rootUrl,
      key: abusiveKey,
      requestsPerSecond: ABUSIVE_PER_SECOND,
      connections: 2,
      seconds: SLICE_SECONDS,
    };
    await sendUploads(flood, abusive);
    spans.push({ from, to: performance.now() });
  }
  const results = await Promise.all(all);
  isOver.abort();
  await watching;

  const isBeside = ({ sentAt, answeredAt }: Exchange) => spans.some(({ from, to }) => sentAt < to && answeredAt > from);
  const beside = honest.filter(isBeside);
  const alone = honest.filter((exchange) => !isBeside(exchange));
  const p95 = (exchanges: readonly Exchange[]) =>
    percentile(
      exchanges.map(({ sentAt, answeredAt }) => answeredAt - sentAt),
      95,
    );
  const figures = {
    machine: describeMachine(),
    seconds: SLICES * SLICE_SECONDS,
    kinds: [...Map.groupBy(honest, ({ kind }) => kind)]
      .map(([kind, exchanges]) => ({
        kind,
        milliseconds: exchanges.map(({ sentAt, answeredAt }) => answeredAt - sentAt),
      }))
      .map(({ kind, milliseconds }) => ({
        kind,
        count: milliseconds.length,
        p50: percentile(milliseconds, 50),
        p95: percentile(milliseconds, 95),
        p99: percentile(milliseconds, 99),
      })),
    failed: honest.filter(({ status }) => status >= 400).length + results.reduce((sum, { errors }) => sum + errors, 0),
    abusive: {
      admitted: abusive.filter(({ status }) => status === 201).length,
      refused: abusive.filter(({ status }) => status === 429).length,
    },
    p95: { alone: p95(alone), beside: p95(beside) },
    serviceBytes: { before: typical(uses, 'service', 'early'), after: typical(uses, 'service', 'late') },
    engineBytes: { before: typical(uses, 'engine', 'early'), after: typical(uses, 'engine', 'late') },
    handles: { before: typical(uses, 'handles', 'early'), after: typical(uses, 'handles', 'late') },
  };

  expect(figures.failed).toBe(0);
  expect([...new Set(abusive.map(({ status }) => status))].sort()).toEqual([201, 429]);
  expect(departuresFromLimit(abusive, CONFIGURABLE_LIMITS.RATE_LIMIT_UPLOADS_PER_MINUTE.default)).toEqual([]);
  // A minute has too few requests for its 95th percentile to say anything.
  if (MINUTES >= 10) expect(figures.p95.beside / figures.p95.alone).toBeLessThanOrEqual(2);
  // In a minute the service has not become warm yet, and one burst of slow requests leaves fifty connections open for a while, which are a
  // tenth of all.
  if (MINUTES > 0) {
    expect(figures.serviceBytes.after / figures.serviceBytes.before).toBeLessThanOrEqual(1.1);
    expect(figures.handles.after / figures.handles.before).toBeLessThanOrEqual(1.1);
  }
  if (run) writeLoadFigures({ ...run, ...figures });
});

/** The median of a use in a quarter of the time: the second one, when the service was warm, or the last one. */
function typical<Name extends string>(
  uses: readonly Record<Name, number>[],
  name: Name,
  when: 'early' | 'late',
): number {
  const quarter = Math.floor(uses.length / 4);
  const part = when === 'early' ? uses.slice(quarter, 2 * quarter) : uses.slice(-quarter);
  return percentile(
    part.map((use) => use[name]),
    50,
  );
}
