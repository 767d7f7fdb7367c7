import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { type Measurement, toTable } from './measurement.ts';

/** `bench/results.json`: the last run that was recorded. A table of docs/performance.md shows it. */
interface Results {
  /** ISO 8601. */
  readonly recordedAt: string;
  readonly machine: {
    readonly processor: string;
    readonly processors: number;
    readonly node: string;
    /** The load of the machine in the minute before the run. */
    readonly load: number;
  };
  readonly seconds: number;
  readonly measurements: readonly Measurement[];
}

const FILE = join(import.meta.dirname, 'results.json');

/** What docs/performance.md shows. */
export function resultsTable(): string {
  const { recordedAt, machine, seconds, measurements } = JSON.parse(readFileSync(FILE, 'utf8')) as Results;
  const { processor, processors, node, load } = machine;
  return `Measured on ${recordedAt.slice(0, 10)} in ${Math.ceil(seconds / 60)} minutes, on one machine for clients, service, database and storage: ${processors} × ${processor}, Node ${node}, load ${load} before the run.\n\n${toTable(measurements)}`;
}

export function writeResults(results: Results): void {
  writeFileSync(FILE, `${JSON.stringify(results, null, 2)}\n`);
}

export function describeMachine(): Results['machine'] {
  const [first, ...others] = cpus();
  const load = Number((loadavg()[0] ?? 0).toFixed(1));
  return { processor: first?.model.trim() ?? '', processors: 1 + others.length, node: process.version, load };
}
