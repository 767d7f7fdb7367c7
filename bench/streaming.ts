import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { on, once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { freePort } from '../local-aws/host/ports.ts';
import { type BenchedService, newKey, withLocalService } from './local-service.ts';
import { type Measurement, median } from './measurement.ts';
import type { Sending } from './send-form.ts';

const MIB = 1024 * 1024;
/** In each round the streaming lane comes first, then the bare pipe, so that both meet the same load of the machine. */
const LOADS = [
  { uploads: 1, mebibytes: 100, rounds: 7, growthMaxMb: 150 },
  { uploads: 8, mebibytes: 100, rounds: 2, growthMaxMb: 150 },
  // All places of one environment, which has 2 GB of memory.
  { uploads: 48, mebibytes: 25, rounds: 2, growthMaxMb: 1_000 },
];
type StreamingLoad = (typeof LOADS)[number];
/** One account may stream no more uploads at once. */
const UPLOADS_PER_ACCOUNT = 16;
/** The time until the garbage of a request has been collected and the process is idle again. */
const REST_MS = 2_000;

/**
 * Measures the streaming lane, from the edge to the answer. Its speed is compared with a process that only stores the same bytes in parts. Of
 * its server it measures how much the memory grows over idle (peak resident memory). Works only on Linux.
 */
export function benchStreaming(): Promise<Measurement[]> {
  return withLocalService(async (service) => {
    const pipe = await startBarePipe(service);
    const client = new Worker(new URL('./send-form.ts', import.meta.url));
    try {
      const lane = `${service.urls.base_url}/files`;
      const send = sender(service, client);
      // The first requests start processes and compile code.
      for (const url of [lane, pipe.url]) await send(url, { uploads: 1, mebibytes: 100 });
      const measurements: Measurement[] = [];
      for (const load of LOADS) measurements.push(...(await benchLoad(send, [lane, pipe.url], load)));
      return measurements;
    } finally {
      await client.terminate();
      pipe.process.kill();
    }
  });
}

async function benchLoad(
  send: Send,
  [lane, pipe]: readonly [string, string],
  load: StreamingLoad,
): Promise<Measurement[]> {
  const { uploads, mebibytes, rounds, growthMaxMb } = load;
  await delay(REST_MS);
  const pid = webFunctionPid();
  const idleBytes = readMemory(pid, 'VmRSS');
  resetPeak(pid);
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    times[0].push(await send(lane, load));
    times[1].push(await send(pipe, load));
  }
  const rate = (milliseconds: readonly number[]) => (uploads * mebibytes * MIB) / 1_000 / median(milliseconds);
  const what = `streaming lane, ${uploads} × ${mebibytes} MiB${uploads > 1 ? ' at once' : ''}`;
  return [
    {
      metric: what,
      value: rate(times[0]),
      unit: 'MB/s',
      beside: { what: 'bare pipe into the parts of S3', value: rate(times[1]) },
    },
    {
      metric: `${what}: memory of its server over idle, at its peak (< ${growthMaxMb})`,
      value: (readMemory(pid, 'VmHWM') - idleBytes) / 1e6,
      unit: 'MB',
    },
  ];
}

/** Uploads a file several times at once. @returns the milliseconds until all are answered. */
type Send = (url: string, load: Pick<StreamingLoad, 'uploads' | 'mebibytes'>) => Promise<number>;

function sender(service: BenchedService, client: Worker): Send {
  return async (url, { uploads, mebibytes }) => {
    // New accounts each time, so that their storage is not full.
    const accounts = Array.from({ length: Math.ceil(uploads / UPLOADS_PER_ACCOUNT) }, () => newKey(service));
    const keys = await Promise.all(accounts);
    let left = uploads;
    const start = performance.now();
    for (let sent = 0; sent < uploads; sent++) {
      const authorization = `Bearer ${keys[sent % keys.length]}`;
      client.postMessage({ url, authorization, fileBytes: mebibytes * MIB } satisfies Sending);
    }
    for await (const [answer] of on(client, 'message') as AsyncIterable<[{ error?: string }]>) {
      if (answer.error) throw new Error(answer.error);
      if (--left === 0) break;
    }
    return performance.now() - start;
  };
}

async function startBarePipe(service: BenchedService): Promise<{ url: string; process: ChildProcess }> {
  const credentials = { accessKeyId: 'BENCH', secretAccessKey: randomUUID() };
  const everything = { Version: '2012-10-17', Statement: [{ Effect: 'Allow' as const, Action: '*', Resource: '*' }] };
  service.front.addPrincipal({ ...credentials, name: 'bench', policies: [everything] });
  const port = await freePort();
  const { variables } = service.lambda.find('UploadFileFunction');
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bare-pipe.ts'), String(port)], {
    env: {
      UPLOADS_BUCKET: variables.UPLOADS_BUCKET,
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL: service.front.endpoint,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  while (!(await accepts(port))) await delay(50);
  return { url: `http://127.0.0.1:${port}`, process: child };
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const connected = await once(socket, 'connect').catch(() => undefined);
  socket.destroy();
  return connected !== undefined;
}

/** The id of the only child process that runs a bundle. */
function webFunctionPid(): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isOurWebFunction(pid));
  const [pid, ...others] = children;
  if (pid === undefined || others.length > 0) throw new Error(`${children.length} Web Functions are running, not 1`);
  return pid;
}

function isOurWebFunction(pid: number): boolean {
  try {
    const isOurs = new RegExp(`^PPid:\\s+${process.pid}$`, 'm').test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return isOurs && readFileSync(`/proc/${pid}/cmdline`, 'utf8').endsWith('/index.js\0');
  } catch {
    return false; // The process has ended meanwhile.
  }
}

/** @param field  `VmRSS`: as of now; `VmHWM`: the most since the process began, or since {@link resetPeak}. */
function readMemory(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const [, kibibytes] =
    new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1_024;
}

/** Resets the process's peak of resident memory. Source: proc_pid_clear_refs(5). */
function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
