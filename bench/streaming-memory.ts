import { randomFillSync } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { retryOn503 } from '../test/support/lanes.ts';
import { type BenchedService, newKey, withLocalService } from './local-service.ts';
import type { Measurement } from './measurement.ts';

const MIB = 1024 * 1024;
/** The number of simultaneous uploads, and by how many MB the memory of the process may grow during them. */
const LOADS = [
  { uploads: 8, fileBytes: 100 * MIB, growthMaxMb: 150 },
  // All places of one environment, which has 2 GB of memory.
  { uploads: 48, fileBytes: 25 * MIB, growthMaxMb: 1_000 },
];
const SHORT_BYTES = 64 * 1024;
const CHUNK_BYTES = 64 * 1024;
const BOUNDARY = 'bench';
const HEAD = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="100-mib.bin"\r\n\r\n`;
const TAIL = `\r\n--${BOUNDARY}--\r\n`;
/** The time until the garbage of a request has been collected and the process is idle again. */
const REST_MS = 2_000;

/**
 * Measures simultaneous uploads to the streaming server: how much its process grows over idle (peak resident memory), and how fast the
 * uploads are. It works only on Linux.
 */
export function benchStreamingMemory(): Promise<Measurement[]> {
  return withLocalService(async (service) => {
    await upload(service, SHORT_BYTES); // The process starts with its first request.
    const measurements: Measurement[] = [];
    for (const load of LOADS) measurements.push(...(await benchLoad(service, load)));
    return measurements;
  });
}

async function benchLoad(service: BenchedService, load: (typeof LOADS)[number]): Promise<Measurement[]> {
  const { uploads, fileBytes, growthMaxMb } = load;
  await delay(REST_MS);
  const pid = webFunctionPid();
  const idleBytes = readMemory(pid, 'VmRSS');
  resetPeak(pid);
  // Several accounts, because one account may stream fewer uploads at once than an environment serves.
  const keys = await Promise.all(Array.from({ length: Math.ceil(uploads / 16) }, () => newKey(service)));
  const start = performance.now();
  await Promise.all(
    Array.from({ length: uploads }, (_, index) =>
      upload({ ...service, key: keys[index % keys.length] ?? '' }, fileBytes),
    ),
  );
  const seconds = (performance.now() - start) / 1_000;
  const peakBytes = readMemory(pid, 'VmHWM');
  const what = `streaming lane, ${uploads} × ${fileBytes / MIB} MiB at once`;
  return [
    { metric: `${what}: memory idle`, value: idleBytes / 1e6, unit: 'MB' },
    {
      metric: `${what}: memory over idle at its peak (< ${growthMaxMb})`,
      value: (peakBytes - idleBytes) / 1e6,
      unit: 'MB',
    },
    { metric: `${what}: duration`, value: seconds, unit: 's' },
    { metric: `${what}: rate`, value: (uploads * fileBytes) / 1e6 / seconds, unit: 'MB/s' },
  ];
}

/** Uploads one form. On a machine that is busy with other work, the service may answer 503; then the form is sent again. */
async function upload(service: BenchedService, bytes: number): Promise<void> {
  const { status, body } = await retryOn503(() => send(service, bytes));
  if (status !== 201) throw new Error(`the upload was answered ${status} ${body}`);
}

/** Sends a form. A short form has no Content-Length, because with a length it would go through the inline lane. */
async function send({ urls, key }: BenchedService, bytes: number): Promise<{ status: number; body: string }> {
  const isShort = bytes === SHORT_BYTES;
  const { promise: response, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request(`${urls.base_url}/files`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      ...(!isShort && { 'content-length': HEAD.length + bytes + TAIL.length }),
    },
  });
  sent.on('response', resolve).on('error', reject);
  Readable.from(form(bytes)).pipe(sent);
  const answer = await response;
  return { status: answer.statusCode ?? 0, body: await text(answer) };
}

function* form(bytes: number): Generator<Uint8Array> {
  yield Buffer.from(HEAD);
  const chunk = randomFillSync(Buffer.alloc(CHUNK_BYTES));
  for (let sent = 0; sent < bytes; sent += CHUNK_BYTES) yield chunk;
  yield Buffer.from(TAIL);
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
