import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { benchFunctions } from './functions.ts';
import { type Measurement, toTable } from './measurement.ts';
import { benchRequests } from './requests.ts';
import { describeMachine, writeResults } from './results.ts';
import { benchStart } from './start.ts';
import { benchStreaming } from './streaming.ts';

/**
 * `npm run bench`, or `npm run bench -- <name>…` for some benchmarks: measures what the service needs of memory, AWS and
 * time. Times depend on this machine, where clients, service, database and storage share the processors.
 *
 * The script in package.json gives Node the options that `npm start` has.
 *
 * `--record` writes `bench/results.json`, and the page that shows it.
 */
const BENCHMARKS: Readonly<Record<string, () => Promise<Measurement[]>>> = {
  // This one runs first, because it measures the memory of all processes, and this process keeps the memory that other benchmarks
  // take.
  requests: benchRequests,
  start: benchStart,
  functions: benchFunctions,
  streaming: benchStreaming,
};

const options = process.argv.slice(2);
const names = options.filter((option) => !option.startsWith('--'));
const unknown = options.filter((option) => !['--record', ...Object.keys(BENCHMARKS)].includes(option));
if (unknown.length > 0) {
  throw new Error(`unknown: ${unknown.join(' ')}; benchmarks are ${Object.keys(BENCHMARKS).join(', ')}`);
}
const isRecorded = options.includes('--record');
if (isRecorded && names.length > 0) throw new Error('only a run of all benchmarks is recorded');

const machine = describeMachine();
const startedAt = performance.now();
const measurements: Measurement[] = [];
for (const name of names.length > 0 ? names : Object.keys(BENCHMARKS)) {
  const begunAt = performance.now();
  measurements.push(...((await BENCHMARKS[name]?.()) ?? []));
  console.error(`${name}: ${Math.round((performance.now() - begunAt) / 1_000)} s`);
}
const seconds = Math.round((performance.now() - startedAt) / 1_000);
console.log(toTable(measurements));
if (isRecorded) {
  writeResults({ recordedAt: new Date().toISOString(), machine, seconds, measurements });
  execFileSync(process.execPath, [join(import.meta.dirname, '../docs/generate.ts')], { stdio: 'inherit' });
}
// A pool of connections may still be open.
process.exit();
