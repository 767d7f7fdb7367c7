import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { on, once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { freePort } from '../local-aws/host/ports.ts';
import { type BenchedService, newKey, withLocalService } from './local-service.ts';
import { type Measurement, median } from './measurement.ts';
import type { Sending } from './send-form.ts';

const MIB = 1024 * 1024;
const FILE_BYTES = 100 * MIB;
/** In each round the streaming lane comes first, then the bare pipe, so that both meet the same load of the machine. */
const LOADS = [
  { uploads: 1, rounds: 7 },
  { uploads: 8, rounds: 2 },
];

/**
 * Measures how fast a file of 100 MiB goes through the streaming lane, from the edge to its answer. For comparison it sends the same bytes
 * through a process that only stores them in parts.
 */
export function benchStreamingRate(): Promise<Measurement[]> {
  return withLocalService(async (service) => {
    const pipe = await startBarePipe(service);
    const client = new Worker(new URL('./send-form.ts', import.meta.url));
    try {
      const send = sender(service, client);
      // The first requests start processes and compile code.
      for (const url of [`${service.urls.base_url}/files`, pipe.url]) await send(url, 1);
      const measurements: Measurement[] = [];
      for (const load of LOADS) {
        const [throughLane, throughPipe] = await compare(send, [`${service.urls.base_url}/files`, pipe.url], load);
        measurements.push({
          metric: `streaming lane, ${load.uploads} × 100 MiB${load.uploads > 1 ? ' at once' : ''}: rate`,
          value: (load.uploads * FILE_BYTES) / 1_000 / throughLane,
          unit: 'MB/s',
          beside: { what: 'bare pipe into the parts of S3', value: (load.uploads * FILE_BYTES) / 1_000 / throughPipe },
        });
      }
      return measurements;
    } finally {
      await client.terminate();
      pipe.process.kill();
    }
  });
}

/** @returns the median milliseconds of each. */
async function compare(
  send: Send,
  [lane, pipe]: readonly [string, string],
  { uploads, rounds }: (typeof LOADS)[number],
): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    times[0].push(await send(lane, uploads));
    times[1].push(await send(pipe, uploads));
  }
  return [median(times[0]), median(times[1])];
}

/** Uploads a file several times at once. @returns the milliseconds until all are answered. */
type Send = (url: string, uploads: number) => Promise<number>;

function sender(service: BenchedService, client: Worker): Send {
  return async (url, uploads) => {
    // A new account each time, so that its storage is not full.
    const sending: Sending = { url, authorization: `Bearer ${await newKey(service)}`, fileBytes: FILE_BYTES };
    let left = uploads;
    const start = performance.now();
    for (let sent = 0; sent < uploads; sent++) client.postMessage(sending);
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
