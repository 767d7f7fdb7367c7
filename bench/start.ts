import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Measurement, median } from './measurement.ts';

const RUNS = 3;

/** Measures what a person waits for who starts the service in an empty folder: from `npm start` until the first request is answered. */
export async function benchStart(): Promise<Measurement[]> {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) times.push(await secondsToFirstAnswer());
  return [{ metric: '`npm start` to the first answer', value: median(times), unit: 's' }];
}

async function secondsToFirstAnswer(): Promise<number> {
  const dataDir = await mkdtemp(join(tmpdir(), 'file-hosting-start-'));
  const startedAt = performance.now();
  const npm = spawn('npm', ['start'], {
    cwd: join(import.meta.dirname, '..'),
    env: { ...process.env, PORT: '0', DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A group of its own, so that a signal reaches npm and the service.
    detached: true,
  });
  const ended = once(npm, 'close');
  try {
    for await (const line of createInterface({ input: npm.stdout })) {
      if (!line.startsWith('READY ')) continue;
      const { base_url } = JSON.parse(line.slice('READY '.length)) as { base_url: string };
      const { status } = await fetch(`${base_url}/files`);
      if (status !== 401) throw new Error(`the first request was answered ${status}`);
      return (performance.now() - startedAt) / 1_000;
    }
    throw new Error('npm start ended before the service was ready');
  } finally {
    if (npm.exitCode === null) process.kill(-(npm.pid as number), 'SIGTERM');
    npm.stdout.resume();
    await ended;
    await rm(dataDir, { recursive: true, force: true });
  }
}
