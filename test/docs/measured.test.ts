import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { linesOf } from '../../bench/measurement.ts';
import { FILE_COUNTS, GROWING, growthMetric, readResults } from '../../bench/results.ts';
import { growthChart, place } from '../../docs/measured/growth-chart.ts';
import { measuredPage } from '../../docs/measured/measured-tables.ts';

const documentOf = (name: string) => readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8');

test('the page and the picture of what was measured are those of the last recorded run', () => {
  expect(documentOf('measured.md')).toBe(measuredPage());
  expect(documentOf('growth.svg')).toBe(growthChart());
});

test('the recorded run has every measurement for every number of files, and took less than ten minutes or ran on a busy machine', () => {
  const { measurements, seconds, machine } = readResults();
  const metrics = measurements.map(({ metric }) => metric);
  for (const what of GROWING) for (const count of FILE_COUNTS) expect(metrics).toContain(growthMetric(what, count));
  expect(seconds < 600 || machine.load > machine.processors).toBe(true);
});

test('the picture shows a point for each number of files, on logarithmic axes', () => {
  expect(growthChart().match(/<circle /g)).toHaveLength(GROWING.length * FILE_COUNTS.length);
  expect([1, 10, 100, 10_000].map((value) => place(value, { from: 0, to: 4 }))).toEqual([0, 0.25, 0.5, 1]);
});

test('a measurement that is compared with another gives three lines: both values, and their ratio', () => {
  const beside = { what: 'plain', value: 4 };
  expect(linesOf({ metric: 'import', value: 1, unit: 'ms', beside })).toEqual([
    { metric: 'import', value: 1, unit: 'ms' },
    { metric: 'import, plain', value: 4, unit: 'ms' },
    { metric: 'import, ratio to plain', value: 0.25, unit: '' },
  ]);
});
