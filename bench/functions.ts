import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { build, type Plugin } from 'esbuild';
import { bundleFunctions } from '../infra/bundle/bundle.ts';
import { ENTRIES } from '../infra/bundle/entries.ts';
import { generateKey } from '../shared/api-keys/key-format.ts';
import { CONFIGURABLE_LIMITS } from '../shared/contract/limits.ts';
import { TABLES } from '../shared/tables.ts';
import { FILE, startCannedAws } from './canned-aws.ts';
import type { Invoked } from './invoke-function.ts';
import { type Measurement, median } from './measurement.ts';

const ROOT = join(import.meta.dirname, '..');
/** Runs of each bundle. They take turns, so that other load on the machine affects all of them. */
const RUNS = 9;

/** The measured functions, each with the event that it is sent. A function without an event is only loaded. */
const FUNCTIONS = {
  getFile: { httpMethod: 'GET', pathParameters: { id: FILE } },
  health: { httpMethod: 'GET' },
  uploadFile: undefined,
} as const;

/** What a function is compared with. These words are shown with the results, and name the folders of the bundles. */
const PLAIN = 'plain bundle';
const BARE = 'the same steps without middleware';

/**
 * Measures functions: their size, and how long they take to load, to warm up, to answer a first request and to answer a warm one. All these
 * values except the warm-up are compared with a plain bundle of the same handler: the SDK as published, esbuild without settings, no
 * warm-up. A warm request is also compared with the same steps without middleware. AWS is a server on this machine that answers at once.
 * Times are processor time, so that other load on the machine changes them little.
 */
export async function benchFunctions(): Promise<Measurement[]> {
  const dir = await mkdtemp(join(tmpdir(), 'file-hosting-functions-'));
  const aws = await startCannedAws();
  try {
    const program = await bundleAll(dir);
    const bundles = Object.keys(FUNCTIONS).flatMap((name) => [join('ours', name), join(PLAIN, name)]);
    const measured = new Map<string, Invoked[]>();
    for (let run = 0; run < RUNS; run++) {
      for (const bundle of [...bundles, join(BARE, 'getFile')]) {
        const event = FUNCTIONS[basename(bundle) as keyof typeof FUNCTIONS];
        const result = await invoke(program, join(dir, bundle, 'index.js'), event, aws.url);
        measured.set(bundle, [...(measured.get(bundle) ?? []), result]);
      }
    }
    const of = (kind: string, name: string, field: keyof Invoked) =>
      median((measured.get(join(kind, name)) ?? []).map((one) => one[field]));
    return [
      ...Object.entries(FUNCTIONS).flatMap(([name, event]) => compare(dir, name, of, event !== undefined)),
      {
        metric: 'getFile: warm request',
        value: of('ours', 'getFile', 'warmCpu'),
        unit: 'ms of CPU',
        beside: { what: BARE, value: of(BARE, 'getFile', 'warmCpu') },
      },
    ];
  } finally {
    aws.close();
    await rm(dir, { recursive: true, force: true });
  }
}

type Medians = (kind: string, name: string, field: keyof Invoked) => number;

function compare(dir: string, name: string, of: Medians, isInvoked: boolean): Measurement[] {
  const time = (step: string, field: keyof Invoked): Measurement => ({
    metric: `${name}: ${step}`,
    value: of('ours', name, field),
    unit: 'ms of CPU',
    beside: { what: PLAIN, value: of(PLAIN, name, field) },
  });
  const kilobytes = (kind: string) => statSync(join(dir, kind, name, 'index.js')).size / 1_000;
  return [
    { metric: `${name}: size`, value: kilobytes('ours'), unit: 'kB', beside: { what: PLAIN, value: kilobytes(PLAIN) } },
    time('import', 'importCpu'),
    { metric: `${name}: warm-up`, value: of('ours', name, 'warmUpCpu'), unit: 'ms of CPU' },
    ...(isInvoked ? [time('first request', 'firstCpu'), time('warm request', 'warmCpu')] : []),
  ];
}

/** @returns the program that loads and invokes a bundle. */
async function bundleAll(dir: string): Promise<string> {
  await bundleFunctions(join(dir, 'ours'));
  await bundleFunctions(join(dir, BARE), { getFile: 'bench/bare-get-file.ts' });
  const entries = Object.keys(FUNCTIONS).map((name) => ({ in: ENTRIES[name] ?? '', out: join(name, 'index') }));
  const plain = { absWorkingDir: ROOT, bundle: true, platform: 'node', target: 'node24', logLevel: 'error' } as const;
  await build({ ...plain, entryPoints: entries, outdir: join(dir, PLAIN), plugins: [noWarmUp] });
  const program = join(dir, 'invoke-function.js');
  await build({ ...plain, entryPoints: ['bench/invoke-function.ts'], outfile: program, format: 'cjs' });
  return program;
}

/** Leaves out the warm-up, because a plain bundle has none. */
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
    COMMIT: 'unknown',
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
