import { expect, test } from 'vitest';
import { formatAgo, formatBytes, formatDuration } from '../../dashboard/src/format.ts';

const NOW = Date.parse('2026-01-31T12:00:00Z');
const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

test.for([
  [-86_400, 'none, because no time is in the future', 0, 'second'],
  [59, 'none', 0, 'second'],
  [60, 'a minute', -1, 'minute'],
  [119, 'a minute', -1, 'minute'],
  [3_599, '59 minutes', -59, 'minute'],
  [86_399, '23 hours', -23, 'hour'],
  [86_400, 'a day', -1, 'day'],
] as const)('a time %i seconds ago is shown in whole units that have passed: %s', ([seconds, , value, unit]) => {
  expect(formatAgo(new Date(NOW - seconds * 1_000).toISOString(), NOW)).toBe(words.format(value, unit));
});

const digits = new Intl.NumberFormat();

test.for([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1_023, `${digits.format(1_023)} bytes`],
  [1_024, '1 KB'],
  [1_536, `${digits.format(1.5)} KB`],
  [104_857_600, '100 MB'],
  [2_147_483_648, '2 GB'],
  [5_000_000_000_000_000, `${digits.format(4_547)} TB`],
] as const)('a size of %i bytes is shown as %s', ([bytes, text]) => {
  expect(formatBytes(bytes)).toBe(text);
});

test.for([
  [0.2, '1 sec'],
  [89, '89 sec'],
  [90, '2 min'],
  [5_400, '2 hr'],
] as const)('a remaining time of %f seconds is shown as %s', ([seconds, text]) => {
  expect(formatDuration(seconds)).toBe(text);
});
