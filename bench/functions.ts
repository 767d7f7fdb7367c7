import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build, type Plugin } from 'esbuild';
import { bundleFunctions } from '../infra/bundle/bundle.ts';
import { ENTRIES } from '../infra/bundle/entries.ts';
import { generateKey } from '../shared/api-keys/key-format.ts';
import { TABLES } from '../shared/aws/tables.ts';
import { CONFIGURABLE_LIMITS } from '../shared/limits.ts';
import { FILE, startCannedAws } from './canned-aws.ts';
import type { Invoked } from './invoke-function.ts';
import { type Measurement, median } from './measurement.ts';

const ROOT = join(import.meta.dirname, '..');
/** Runs of each bundle. They take turns, so that other load on the machine affects all of them. */
const RUNS = 9;

/** The functions that are measured, by the event that each is sent; those without one are only loaded. */
const FUNCTIONS = {
  getFile: { httpMethod: 'GET', pathParameters: { id: FILE } },
  health: { httpMethod: 'GET' },
  uploadFile: undefined,
} as const;

/**
 * Measures how long functions take to load, to answer their first request and to answer a warm one, each beside a plain bundle of the
 * same handler: the SDK as it comes, esbuild without settings, nothing done ahead. AWS is a server on this machine that answers
 * at once. Times are processor time, so that other load on the machine changes them little.
 */
export async function benchFunctions(): Promise<Measurement[]> {
  const dir = await mkdtemp(join(tmpdir(), 'file-hosting-functions-'));
  const aws = await startCannedAws();
  try {
    const program = await bundleAll(dir);
    const measured = new Map<string, Invoked[]>();
    for (let run = 0; run < RUNS; run++) {
      for (const name of Object.keys(FUNCTIONS) as (keyof typeof FUNCTIONS)[]) {
        for (const kind of ['ours', 'plain']) {
          const result = await invoke(program, join(dir, kind, name, 'index.js'), FUNCTIONS[name], aws.url);
          measured.set(`${kind} ${name}`, [...(measured.get(`${kind} ${name}`) ?? []), result]);
        }
      }
    }
    return Object.entries(FUNCTIONS).flatMap(([name, event]) =>
      compare(name, measured.get(`ours ${name}`) ?? [], measured.get(`plain ${name}`) ?? [], event !== undefined),
    );
  } finally {
    aws.close();
    await rm(dir, { recursive: true, force: true });
  }
}

function compare(name: string, ours: readonly Invoked[], plain: readonly Invoked[], isInvoked: boolean): Measurement[] {
  const steps = [
    ['import', 'importCpu'],
    ['warm-up', 'warmUpCpu'],
    ...(isInvoked
      ? ([
          ['first request', 'firstCpu'],
          ['warm request', 'warmCpu'],
        ] as const)
      : []),
  ] as const;
  return steps.flatMap(([step, field]) => {
    const [own, other] = [ours, plain].map((all) => median(all.map((one) => one[field])));
    return [
      { metric: `${name}: ${step}`, value: own ?? 0, unit: 'ms of CPU' },
      { metric: `${name}: ${step}, plain bundle`, value: other ?? 0, unit: 'ms of CPU' },
      ...(step === 'warm-up'
        ? []
        : [{ metric: `${name}: ${step}, of the plain bundle`, value: (own ?? 0) / (other ?? 0), unit: 'ratio' }]),
    ];
  });
}

/** @returns the program that loads and invokes a bundle. */
async function bundleAll(dir: string): Promise<string> {
  await bundleFunctions(join(dir, 'ours'));
  const entries = Object.keys(FUNCTIONS).map((name) => ({ in: ENTRIES[name] ?? '', out: join(name, 'index') }));
  const plain = { absWorkingDir: ROOT, bundle: true, platform: 'node', target: 'node24', logLevel: 'error' } as const;
  await build({ ...plain, entryPoints: entries, outdir: join(dir, 'plain'), plugins: [noWarmUp] });
  const program = join(dir, 'invoke-function.js');
  await build({ ...plain, entryPoints: ['bench/invoke-function.ts'], outfile: program, format: 'cjs' });
  return program;
}

/** Leaves out what is done ahead of the first request. */
const noWarmUp: Plugin = {
  name: 'no-warm-up',
  setup({ onLoad }) {
    onLoad({ filter: /\/shared\/stack\/warm-up\.ts$/ }, () => ({ contents: 'export const warmUp = () => {};' }));
  },
};

async function invoke(program: string, bundle: string, event: object | undefined, url: string): Promise<Invoked> {
  const environment = {
    AWS_ENDPOINT_URL: url,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    AWS_SESSION_TOKEN: 'bench',
    STAGE: 'prod',
    UPLOADS_BUCKET: 'bench',
    CDN_URL: 'https://cdn.example.org',
    APP_URL_PARAMETER: '/bench',
    ...Object.fromEntries(Object.values(TABLES).map(({ variable }) => [variable, variable])),
    ...Object.fromEntries(Object.entries(CONFIGURABLE_LIMITS).map(([name, limit]) => [name, String(limit.default)])),
  };
  const argument = event && JSON.stringify({ ...REQUEST, ...event });
  const run = promisify(execFile)(process.execPath, [program, bundle, ...(argument ? [argument] : [])], {
    env: environment,
  });
  return JSON.parse((await run).stdout) as Invoked;
}

const REQUEST = {
  multiValueHeaders: { Authorization: [`Bearer ${generateKey('live')}`] },
  multiValueQueryStringParameters: null,
  body: null,
  isBase64Encoded: false,
  path: '/',
  requestContext: { requestId: 'bench', identity: { sourceIp: '127.0.0.1' } },
};
