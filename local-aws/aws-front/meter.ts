import type { Consumption, ServiceName } from './protocol.ts';

/** One call of AWS that was answered or cut off. */
export interface MeteredCall {
  readonly service: ServiceName;
  readonly operation: string;
  /** The DynamoDB tables it touched, each once. */
  readonly tables: readonly string[];
  /** The name of the principal that made the call. */
  readonly principal: string;
  /** The `Root` of its `X-Amzn-Trace-Id`, which the SDK sends inside a Lambda function. */
  readonly traceId?: string;
  /** The status of the answer; 0 when the call was cut off. */
  readonly status: number;
  readonly consumed: readonly Consumption[];
  /** Sums over `consumed`. */
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Positions in the common order of all starts and ends. A call that started after another one ended counts as waiting for the other. */
  readonly startedAt: number;
  readonly endedAt: number;
}

interface MeterReading {
  readonly calls: readonly MeteredCall[];
  readonly readUnits: number;
  readonly writeUnits: number;
  /**
   * The length of the longest chain of calls in which each call started after the previous one had ended: how many round trips
   * followed each other at most. Calls that were sent together count as one round only if they overlap here: see the fault
   * effect `delayMs`.
   */
  readonly rounds: number;
}

export interface Meter {
  /** The present point in time, for {@link since}. */
  mark(): number;
  /** All calls that started after the mark. @throws Error when there were more of them than the meter keeps. */
  since(mark: number): MeterReading;
}

export interface MeterWriter extends Meter {
  begin(): number;
  end(startedAt: number, call: Omit<MeteredCall, 'startedAt' | 'endedAt' | 'readUnits' | 'writeUnits'>): MeteredCall;
}

/** How many calls are kept: the latest ones. */
const CALLS_MAX = 2_000;

export function createMeter(): MeterWriter {
  let order = 0;
  let calls: MeteredCall[] = [];
  let forgottenUntil = 0;
  return {
    mark: () => order,
    since(mark) {
      if (mark < forgottenUntil) throw new Error(`the meter keeps ${CALLS_MAX} calls, and there were more since`);
      return readingOf(calls.filter(({ startedAt }) => startedAt > mark));
    },
    begin: () => ++order,
    end(startedAt, call) {
      const metered = { ...call, ...sumOf(call.consumed), startedAt, endedAt: ++order };
      calls.push(metered);
      if (calls.length >= 2 * CALLS_MAX) {
        forgottenUntil = Math.max(...calls.slice(0, CALLS_MAX).map((old) => old.startedAt));
        calls = calls.slice(CALLS_MAX);
      }
      return metered;
    },
  };
}

function sumOf(consumed: readonly { readonly readUnits: number; readonly writeUnits: number }[]) {
  return {
    readUnits: consumed.reduce((sum, { readUnits }) => sum + readUnits, 0),
    writeUnits: consumed.reduce((sum, { writeUnits }) => sum + writeUnits, 0),
  };
}

const readingOf = (calls: readonly MeteredCall[]): MeterReading => ({
  calls,
  ...sumOf(calls),
  rounds: countRounds(calls),
});

/** The length of the longest chain of calls in which each call started after the previous one had ended. */
export function countRounds(calls: readonly Pick<MeteredCall, 'startedAt' | 'endedAt'>[]): number {
  const byEnd = [...calls].sort((a, b) => a.endedAt - b.endedAt);
  let rounds = 0;
  let lastEnd = Number.NEGATIVE_INFINITY;
  // The chain is longest if the call that is taken next is always the one that ends first.
  for (const { startedAt, endedAt } of byEnd) {
    if (startedAt <= lastEnd) continue;
    rounds += 1;
    lastEnd = endedAt;
  }
  return rounds;
}
