import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Pace } from '../../clients/typescript/src/pace.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

const answer = (left: number, seconds: number) =>
  new Headers({ 'RateLimit-Policy': '"uploads";q=60;w=60', RateLimit: `"uploads";r=${left};t=${seconds}` });

test.for([
  [0, 30, 0, 30],
  [0, 30, 60, 30],
  [0, 30, 61, 90],
  [0, 30, 2_000, 30 + 33 * 60],
  [10, 30, 10, 0],
  [10, 30, 11, 30],
  [10, 30, 71, 90],
] as const)(
  'with %i uploads left for %i s, %i more uploads take at least %i s',
  ([left, seconds, uploads, expected]) => {
    const pace = new Pace();
    const headers = answer(left, seconds);
    pace.learn((name) => headers.get(name));
    expect(pace.secondsFor(uploads)).toBe(expected);
  },
);

test('without rate-limit headers there is no wait, and hold() makes uploads wait', () => {
  const pace = new Pace();
  expect(pace.secondsFor(1_000)).toBe(0);
  pace.hold(20);
  expect([pace.secondsFor(0), pace.secondsFor(1)]).toEqual([20, 20]);
  vi.advanceTimersByTime(20_000);
  expect([pace.secondsFor(0), pace.secondsFor(1)]).toEqual([0, 0]);
});
