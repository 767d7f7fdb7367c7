import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FAST_BYTES_PER_SECOND as FAST, Places } from '../../../functions/upload-stream/places.ts';
import {
  UPLOAD_SLOWEST_BYTES_PER_SECOND as SLOW,
  STREAMING_PLACES_PER_ACCOUNT,
  STREAMING_PLACES_PER_ENVIRONMENT,
} from '../../../shared/contract/limits.ts';

/** While no more places than these are taken, nothing is cut. */
const PLENTY = (STREAMING_PLACES_PER_ENVIRONMENT * 3) / 4;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A body that arrives at a known rate. */
class Body {
  hasEnded = false;
  isCut = false;
  bytesPerSecond: number;

  constructor(bytesPerSecond: number) {
    this.bytesPerSecond = bytesPerSecond;
  }

  cut(): void {
    this.isCut = true;
  }
}

function takeAll(places: Places, bodies: readonly Body[]): void {
  for (const body of bodies) places.take(body, body);
}

const bodies = (count: number, bytesPerSecond: number) => Array.from({ length: count }, () => new Body(bytesPerSecond));
const cutOf = (all: readonly Body[]) => all.filter(({ isCut }) => isCut);

test('nothing is cut while a quarter of the places is free', () => {
  const places = new Places(() => {});
  const all = bodies(PLENTY, SLOW);
  takeAll(places, all);
  for (const refused of all.slice(0, 10)) places.refuse(refused);
  vi.advanceTimersByTime(14 * 60_000);
  expect(cutOf(all)).toEqual([]);
});

test('a refused body is cut first, however fast it is, and then the slowest', () => {
  const places = new Places(() => {});
  const [slower, slow, refused] = [new Body(SLOW), new Body(2 * SLOW), new Body(10 * FAST)];
  takeAll(places, [slow, slower, refused, ...bodies(PLENTY - 3, 3 * SLOW)]);
  places.refuse(refused);
  const order = [refused, slower, slow];
  for (const [index] of order.entries()) {
    takeAll(places, bodies(1, 3 * SLOW));
    expect(order.map(({ isCut }) => isCut)).toEqual(order.map((_, place) => place <= index));
  }
});

test('a body is cut at its refusal when places are short already', () => {
  const places = new Places(() => {});
  const fast = bodies(PLENTY + 1, FAST);
  takeAll(places, fast);
  expect(cutOf(fast)).toEqual([]);
  places.refuse(fast[7] as Body);
  expect(cutOf(fast)).toEqual([fast[7]]);
});

test('slow uploads leave a quarter of the places free as soon as their rates are known', () => {
  const places = new Places(() => {});
  const all = bodies(STREAMING_PLACES_PER_ENVIRONMENT, Number.POSITIVE_INFINITY);
  takeAll(places, all);
  vi.advanceTimersByTime(60_000);
  expect(cutOf(all)).toEqual([]);
  for (const body of all) body.bytesPerSecond = SLOW;
  vi.advanceTimersByTime(1_000);
  expect(cutOf(all)).toHaveLength(STREAMING_PLACES_PER_ENVIRONMENT - PLENTY);
});

test('neither a fast upload nor a body that has arrived is ever cut', () => {
  const places = new Places(() => {});
  const all = [...bodies(PLENTY, FAST), ...bodies(STREAMING_PLACES_PER_ENVIRONMENT - PLENTY, SLOW)];
  for (const body of all.slice(PLENTY)) body.hasEnded = true;
  takeAll(places, all);
  vi.advanceTimersByTime(60_000);
  expect(cutOf(all)).toEqual([]);
});

test('one account can have 16 uploads; those that have left or were refused do not count', () => {
  const places = new Places(() => {});
  const all = bodies(STREAMING_PLACES_PER_ACCOUNT + 4, FAST);
  takeAll(places, all);
  const late = all.splice(STREAMING_PLACES_PER_ACCOUNT);
  const admit = (account: string) => places.admit(late.pop() as Body, account);
  expect(all.map((body) => places.admit(body, 'a'))).toEqual(Array(STREAMING_PLACES_PER_ACCOUNT).fill(true));
  expect([admit('a'), admit('another')]).toEqual([false, true]);
  places.leave(all[0] as Body);
  expect(admit('a')).toBe(true);
  places.refuse(all[1] as Body);
  expect(admit('a')).toBe(true);
});

test('while any place is taken, a process reports once a minute how many places are taken', () => {
  const reported: number[] = [];
  const places = new Places((taken) => reported.push(taken));
  const [first, second] = bodies(2, FAST) as [Body, Body];
  takeAll(places, [first, second]);
  vi.advanceTimersByTime(60_000);
  expect(reported).toEqual([2]);
  places.leave(second);
  vi.advanceTimersByTime(60_000);
  expect(reported).toEqual([2, 1]);
  places.leave(first);
  vi.advanceTimersByTime(600_000);
  expect(reported).toEqual([2, 1]);
  expect(vi.getTimerCount()).toBe(0);
});
