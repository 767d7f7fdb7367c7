import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { linesOf } from '../../bench/measurement.ts';
import { readResults } from '../../bench/results.ts';

const ROOT = join(import.meta.dirname, '../..');

/** This benchmark loads each function as a process of its own, with only the variables that the benchmark sets. No other test does so. */
test('npm run bench -- functions measures everything about functions that the recorded run has', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['bench/run.ts', 'functions', '--json'], {
    cwd: ROOT,
  });
  const measured = stdout
    .trimEnd()
    .split('\n')
    .map((line): ReturnType<typeof linesOf>[number] => JSON.parse(line));
  const recorded = readResults()
    .measurements.flatMap(linesOf)
    .filter(({ metric }) =>
      /^(?:getFile|health|uploadFile): (?:size|import|warm-up|first request|warm request)/.test(metric),
    );
  expect(recorded.length).toBeGreaterThan(20);
  const named = (lines: typeof measured) => lines.map(({ metric, unit }) => `${metric} (${unit})`).sort();
  expect(named(measured)).toEqual(named(recorded));
  expect(measured.filter(({ value }) => !(value > 0))).toEqual([]);
});
