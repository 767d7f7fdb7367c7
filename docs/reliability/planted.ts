import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NO_FAULT } from '../../test/shared/histories/planted-faults.ts';

interface PlantedResult {
  readonly recordedAt: string;
  readonly commit: string;
  readonly kind: string;
  /** What found it; null for nothing. */
  readonly foundBy: string | null;
}

/** The row of the last run of `test/shared/histories/planted.soak.ts`, which adds a line to `planted.jsonl` for each fault. */
export function plantedRun(): readonly string[] {
  const lines = readFileSync(join(import.meta.dirname, 'planted.jsonl'), 'utf8')
    .trim()
    .split('\n');
  const results: PlantedResult[] = lines.map((line) => JSON.parse(line));
  const { commit = '', recordedAt = '' } = results.at(-1) ?? {};
  const last = new Map(results.filter((one) => one.commit === commit).map((one) => [one.kind, one.foundBy]));
  const faults = [...last].filter(([kind]) => kind !== NO_FAULT);
  const missed = faults.filter(([, foundBy]) => foundBy === null).map(([kind]) => kind);
  const notFound = missed.length > 0 ? `, not found: ${missed.join(', ')}` : '';
  return [
    `${faults.length} planted faults, 200 histories each and as many concurrent ones, commit ${commit}`,
    `${faults.length - missed.length} found${notFound}; without a fault ${last.get(NO_FAULT) === null ? 'none' : 'a disagreement, or not run'}`,
    recordedAt.slice(0, 10),
  ];
}
