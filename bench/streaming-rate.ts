import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { freePort } from '../local-aws/host/ports.ts';
import { type BenchedService, withLocalService } from './local-service.ts';
import { type Measurement, median } from './measurement.ts';
import type { Sending } from './send-form.ts';

const MIB = 1024 * 1024;
const FILE_BYTES = 100 * MIB;
/** The two take turns, so that both meet the same load of the machine. */
const ROUNDS = 7;

/**
 * Measures how fast a file of 100 MiB goes through the streaming lane, from the edge to its answer, and how fast the same bytes
 * go through a process that only stores them in parts.
 */
export function benchStreamingRate(): Promise<Measurement[]> {
  return withLocalService(async (service) => {
    const pipe = await startBarePipe(service);
    const client = new Worker(new URL('./send-form.ts', import.meta.url));
    try {
      const authorization = `Bearer ${service.key}`;
      const lane = { url: `${service.urls.base_url}/files`, authorization, fileBytes: FILE_BYTES };
      const [throughLane, throughPipe] = await compare(client, lane, { ...lane, url: pipe.url });
      return [
        { metric: 'streaming lane, 100 MiB: duration', value: throughLane / 1_000, unit: 's' },
        { metric: 'bare pipe into the parts of S3, 100 MiB: duration', value: throughPipe / 1_000, unit: 's' },
        { metric: 'streaming lane: rate of the bare pipe', value: throughPipe / throughLane, unit: '×' },
      ];
    } finally {
      await client.terminate();
      pipe.process.kill();
    }
  });
}

/** @returns the median milliseconds of each. */
async function compare(client: Worker, one: Sending, other: Sending): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round <= ROUNDS; round++) {
    const pair = [await send(client, one), await send(client, other)] as const;
    if (round === 0) continue; // The first requests start processes and compile code.
    times[0].push(pair[0]);
    times[1].push(pair[1]);
  }
  return [median(times[0]), median(times[1])];
}

async function send(client: Worker, sending: Sending): Promise<number> {
  client.postMessage(sending);
  const [answer] = (await once(client, 'message')) as [{ milliseconds: number } | { error: string }];
  if ('error' in answer) throw new Error(answer.error);
  return answer.milliseconds;
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
