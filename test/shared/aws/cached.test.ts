import { describe, expect, test } from 'vitest';
import { cached } from '../../../shared/aws/cached.ts';

/** A dependency that answers 1, 2, 3 …, and fails while `isDown`. */
function dependency() {
  const state = { isDown: false, reads: 0, now: 0 };
  const read = async () => {
    state.reads++;
    if (state.isDown) throw new Error('down');
    return state.reads;
  };
  return { state, value: cached(read, { keepMs: 1_000, clock: () => state.now }) };
}

describe('a cached value', () => {
  test('is read once until its time is over', async () => {
    const { state, value } = dependency();
    const seen = [];
    for (state.now of [0, 500, 999, 1_000, 1_999, 2_000]) seen.push(await value());
    expect(seen).toEqual([1, 1, 1, 2, 2, 3]);
  });

  test('is read once for all callers at the same time', async () => {
    const { value } = dependency();
    expect(await Promise.all([value(), value(), value()])).toEqual([1, 1, 1]);
  });

  test('is read again by the next caller after a failed read', async () => {
    const { state, value } = dependency();
    state.isDown = true;
    await expect(value()).rejects.toThrow('down');
    await expect(value()).rejects.toThrow('down');
    state.isDown = false;
    expect(await value()).toBe(3);
  });

  test('is used for the same time again when it cannot be read again', async () => {
    const { state, value } = dependency();
    expect(await value()).toBe(1);
    state.now = 5_000;
    state.isDown = true;
    expect([await value(), await value()]).toEqual([1, 1]);
    state.isDown = false;
    state.now = 5_999;
    expect(await value()).toBe(1);
    state.now = 6_000;
    expect([await value(), state.reads]).toEqual([3, 3]);
  });

  test('is read again for a caller that asks for a younger value', async () => {
    const { state, value } = dependency();
    expect(await value()).toBe(1);
    state.now = 99;
    expect(await value({ maxAgeMs: 100 })).toBe(1);
    state.now = 100;
    expect(await value({ maxAgeMs: 100 })).toBe(2);
    state.now = 150;
    expect([await value(), await value({ maxAgeMs: 100 })]).toEqual([2, 2]);
  });
});
