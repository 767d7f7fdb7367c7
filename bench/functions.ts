import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { bundleFunctions } from '../infra/bundle/bundle.ts';
import { ENTRIES } from '../infra/bundle/entries.ts';
import { CONFIGURABLE_LIMITS } from '../shared/contract/limits.ts';
import { TABLES } from '../shared/tables.ts';
import { type Measurement, median } from './measurement.ts';

const ROOT = join(import.meta.dirname, '..');
const FUNCTIONS = ['getFile', 'uploadFile'];
/** Loads of each bundle. They take turns, so that other load on the machine affects all of them. */
const RUNS = 9;
/** Loads a bundle, as Lambda's runtime does in a new process, and prints the milliseconds of processor time that this took. */
const LOAD = `const before = process.cpuUsage();
  require(process.argv[1]);
  const { user, system } = process.cpuUsage(before);
  require('fs').writeSync(1, String((user + system) / 1000));
  process.exit();`;

/**
 * Measures how large functions are and how long they take to load, and compares them with a plain bundle of the same handler: the SDK as
 * published, esbuild without settings. Times are processor time, so that other load on the machine changes them little.
 */
export async function benchFunctions(): Promise<Measurement[]> {
  const dir = await mkdtemp(join(tmpdir(), 'file-hosting-functions-'));
  try {
    await bundleFunctions(join(dir, 'ours'));
    const entryPoints = FUNCTIONS.map((name) => ({ in: ENTRIES[name] ?? '', out: join(name, 'index') }));
    const plain = { absWorkingDir: ROOT, bundle: true, platform: 'node', target: 'node24', logLevel: 'error' } as const;
    await build({ ...plain, entryPoints, outdir: join(dir, 'plain') });
    const measurements: Measurement[] = [];
    for (const name of FUNCTIONS) measurements.push(...(await compare(dir, name)));
    return measurements;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function compare(dir: string, name: string): Promise<Measurement[]> {
  const bundles = { ours: join(dir, 'ours', name, 'index.js'), plain: join(dir, 'plain', name, 'index.js') };
  const times: Record<keyof typeof bundles, number[]> = { ours: [], plain: [] };
  for (let run = 0; run < RUNS; run++) {
    for (const kind of ['ours', 'plain'] as const) times[kind].push(await load(bundles[kind]));
  }
  const kilobytes = (bundle: string) => statSync(bundle).size / 1_000;
  const beside = (value: number) => ({ what: 'plain bundle', value });
  return [
    { metric: `${name}: size`, value: kilobytes(bundles.ours), unit: 'kB', beside: beside(kilobytes(bundles.plain)) },
    {
      metric: `${name}: import`,
      value: median(times.ours),
      unit: 'ms of CPU',
      beside: beside(median(times.plain)),
    },
  ];
}

async function load(bundle: string): Promise<number> {
  const env = {
    // The process ends before the first call of the bundle reaches anything.
    AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    AWS_SESSION_TOKEN: 'bench',
    STAGE: 'prod',
    COMMIT: 'unknown',
    UPLOADS_BUCKET: 'bench',
    CDN_URL: 'https://cdn.example.org',
    APP_URL_PARAMETER: '/bench',
    ...Object.fromEntries(Object.values(TABLES).map(({ variable }) => [variable, variable])),
    ...Object.fromEntries(Object.entries(CONFIGURABLE_LIMITS).map(([name, limit]) => [name, String(limit.default)])),
  };
  return Number((await promisify(execFile)(process.execPath, ['-e', LOAD, bundle], { env })).stdout);
}
