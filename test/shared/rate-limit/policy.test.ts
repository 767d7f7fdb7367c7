import { expect, test } from 'vitest';
import { ROUTES } from '../../../functions/routes.ts';
import { CONFIGURABLE_LIMITS } from '../../../shared/contract/limits.ts';
import { RATE_CLASSES } from '../../../shared/contract/route.ts';
import { rateKey, ratePolicy, slotSizes } from '../../../shared/rate-limit/policy.ts';
import type { Route } from '../../../shared/route.ts';

test.each([1, 2, 60, 120, 121, 240, 500, 1_000, 999_983, 1_000_000])(
  'the slots of a limit of %i add up to the limit',
  (limit) => {
    const policy = ratePolicy(limit);
    const sizes = slotSizes(policy);
    expect(sizes).toHaveLength(policy.slots);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(limit);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  },
);

test.each([
  [1, 1],
  [60, 60],
  [120, 120],
  [121, 72],
  [240, 72],
  [1_000_000, 72],
])('a limit of %i has %i slots', (limit, slots) => {
  expect(ratePolicy(limit)).toEqual({ limit, slots });
});

test('every class of the routes has a limit that an operator can set', () => {
  for (const { rateClass } of Object.values<Route>(ROUTES)) {
    if (rateClass) expect(CONFIGURABLE_LIMITS).toHaveProperty(RATE_CLASSES[rateClass]);
  }
});

test('rows of different classes, limits and subjects have different keys', () => {
  const keys = [
    rateKey('uploads', 60, 'a'),
    rateKey('lists', 60, 'a'),
    rateKey('uploads', 61, 'a'),
    rateKey('uploads', 60, 'b'),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});
