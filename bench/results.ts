import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import type { Measurement } from './measurement.ts';

/** `bench/results.json`: the last run that was recorded. The README, `docs/measured.md` and `docs/growth.svg` are made from it. */
export interface Results {
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

export function readResults(): Results {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Results;
}

export function writeResults(results: Results): void {
  writeFileSync(FILE, `${JSON.stringify(results, null, 2)}\n`);
}

export function describeMachine(): Results['machine'] {
  const [first, ...others] = cpus();
  const load = Number((loadavg()[0] ?? 0).toFixed(1));
  return { processor: first?.model.trim() ?? '', processors: 1 + others.length, node: process.version, load };
}

/** What a request uses of AWS: the columns of a table. The metrics are called `<request>: <column>`. */
export const COST_COLUMNS = ['calls', 'rounds', 'write units', 'read units'] as const;

/** What grows with the number of files of an account. */
export const GROWING = ['first page', 'last page', 'search for a few files'] as const;
export const FILE_COUNTS = [100, 1_000, 10_000, 100_000, 1_000_000] as const;

/** The name of the metric for the time at one point of the growth. For the read units, `: read units` is appended to the name. */
export function growthMetric(what: (typeof GROWING)[number], count: number): string {
  return `${what}, of ${count.toLocaleString('en-US')} files`;
}
