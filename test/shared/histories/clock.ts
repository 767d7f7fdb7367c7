import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterAll, vi } from 'vitest';

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The time of the histories, in epoch milliseconds. It stands still while the service works, except for the waits of the service. */
export interface Clock {
  now(): number;
  pass(milliseconds: number): void;
  /** Runs work on a machine whose clock is ahead by so much, or behind. */
  on<Result>(aheadMs: number, work: () => Result): Result;
}

/** Puts a clock in the place of the machine's until the end of the test file. To be called before our modules are loaded. */
export function installClock(start: number): Clock {
  const machines = new AsyncLocalStorage<number>();
  let now = start;
  const clock: Clock = {
    now: () => now,
    pass: (milliseconds) => {
      // The waits of the service are random, and not whole numbers.
      now += Math.ceil(milliseconds);
    },
    on: (aheadMs, work) => machines.run(aheadMs, work),
  };
  const read = () => now + (machines.getStore() ?? 0);
  const RealDate = Date;
  class HistoryDate extends RealDate {
    constructor(...args: [] | [number]) {
      super(args[0] ?? read());
    }
    static override now = read;
  }
  globalThis.Date = HistoryDate as DateConstructor;
  vi.doMock('node:timers/promises', async (original) => ({
    ...(await original<object>()),
    setTimeout: async (milliseconds: number) => {
      clock.pass(milliseconds);
      await new Promise(setImmediate);
    },
  }));
  // Servers of Node send the machine's time, and the SDK would correct its clock by it.
  const sendNoDate = (message: unknown) => {
    (message as { response: { sendDate: boolean } }).response.sendDate = false;
  };
  subscribe('http.server.request.start', sendNoDate);
  afterAll(() => {
    unsubscribe('http.server.request.start', sendNoDate);
    vi.doUnmock('node:timers/promises');
    globalThis.Date = RealDate;
  });
  return clock;
}
