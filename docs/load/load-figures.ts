import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { describeMachine } from '../../bench/results.ts';

interface BeforeAndAfter {
  readonly before: number;
  readonly after: number;
}

/** `docs/load/load.json`: the last run of ten minutes of `test/load/load.soak.ts`. Times are milliseconds. */
export interface LoadFigures {
  /** ISO 8601. */
  readonly recordedAt: string;
  /** The first digits of the commit that ran. Older records have none. */
  readonly commit?: string;
  readonly machine: ReturnType<typeof describeMachine>;
  readonly seconds: number;
  readonly kinds: readonly {
    readonly kind: string;
    readonly count: number;
    readonly p50: number;
    readonly p95: number;
    readonly p99: number;
  }[];
  /** Requests of honest accounts with an error, or without an answer. */
  readonly failed: number;
  readonly abusive: { readonly admitted: number; readonly refused: number };
  /** Of all requests of the honest accounts. */
  readonly p95: { readonly alone: number; readonly beside: number };
  readonly serviceBytes: BeforeAndAfter;
  readonly engineBytes: BeforeAndAfter;
  readonly handles: BeforeAndAfter;
}

const FILE = join(import.meta.dirname, 'load.json');

export const readLoadFigures = (): LoadFigures => JSON.parse(readFileSync(FILE, 'utf8'));

export function writeLoadFigures(figures: LoadFigures): void {
  writeFileSync(FILE, `${JSON.stringify(figures, null, 2)}\n`);
}

/** The value that so many percent of the values do not exceed (nearest rank). */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}
