import { expect, test } from 'vitest';
import { formatAgo } from '../../dashboard/src/format.ts';

const NOW = Date.parse('2026-01-31T12:00:00Z');
const words = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

test.for([
  [59, 0, 'second'],
  [60, -1, 'minute'],
  [119, -1, 'minute'],
  [3_599, -59, 'minute'],
  [86_399, -23, 'hour'],
  [86_400, -1, 'day'],
] as const)('%i seconds ago are told in whole units that have passed: %i %s', ([seconds, value, unit]) => {
  expect(formatAgo(new Date(NOW - seconds * 1_000).toISOString(), NOW)).toBe(words.format(value, unit));
});
