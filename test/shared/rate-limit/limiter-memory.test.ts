import { expect, test } from 'vitest';
import { LimiterMemory } from '../../../shared/rate-limit/rate-limiter.ts';

test('a rejection is remembered until it ends, and then forgotten', () => {
  const memory = new LimiterMemory();
  memory.noteRejection('a', 1_000);
  expect([999, 1_000, 999].map((now) => memory.rejectionLasting('a', now))).toEqual([1_000, undefined, undefined]);
});

test('a later rejection of the same subject replaces the earlier one', () => {
  const memory = new LimiterMemory();
  memory.noteRejection('a', 1_000);
  memory.noteRejection('a', 2_000);
  expect(memory.rejectionLasting('a', 1_500)).toBe(2_000);
});

test('at most 1,000 rejections are remembered: the oldest are forgotten', () => {
  const memory = new LimiterMemory();
  for (let i = 0; i < 1_500; i++) memory.noteRejection(`subject ${i}`, 1_000);
  const remembered = Array.from({ length: 1_500 }, (_, i) => memory.rejectionLasting(`subject ${i}`, 0) !== undefined);
  expect(remembered.filter(Boolean)).toHaveLength(1_000);
  expect([remembered.at(0), remembered.at(499), remembered.at(500), remembered.at(-1)]).toEqual([
    false,
    false,
    true,
    true,
  ]);
});
