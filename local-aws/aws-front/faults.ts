import { setTimeout } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { Call, ServiceName } from './protocol.ts';

/**
 * What a fault does to a call. The call is performed only where this list says so.
 * - `throttle`: the service answers with its own error for calls that are too frequent.
 * - `conflict`: the call is refused because of another at the same time: by DynamoDB because of a transaction on the same item, by S3 because
 *   of a change of the same key. It applies only to calls that can conflict: transactions, writes of one item, and conditional writes to S3.
 * - `error-before`: the answer is a 500.
 * - `error-after`: the call is performed, but the answer is a 500.
 * - `timeout`: there is no answer.
 * - `cut`: the connection ends.
 * - `cut-after`: the call is performed, but then the connection ends.
 * - `delayMs`: the call is performed, and answered this many milliseconds later. Calls that were sent together then overlap for
 *   certain, so that the meter counts them as one round.
 * - `answeredAfter`: the call is performed, and answered when the promise settles.
 * - `answer`: the answer is this, in JSON: for what a service may answer, and no other effect has.
 * - `lateBy`: the connection ends once the whole request has arrived, and the call is performed only later: after this many
 *   milliseconds, or when the promise settles. Until then the client may have tried again, succeeded, and gone on.
 */
export type FaultEffect =
  | 'throttle'
  | 'conflict'
  | 'error-before'
  | 'error-after'
  | 'timeout'
  | 'cut'
  | 'cut-after'
  | { readonly delayMs: number }
  | { readonly answeredAfter: Promise<unknown> }
  | { readonly answer: { readonly status: number; readonly body: object } }
  | { readonly lateBy: number | Promise<unknown> };

/** What the predicate of a fault sees of a call. */
export interface FaultSubject
  extends Pick<Call, 'service' | 'operation' | 'tables' | 'input' | 'bucket' | 'key' | 'conflict'> {
  /** The name of the principal that makes the call. */
  readonly principal: string;
}

export interface Fault {
  /** A call fits when all of the given conditions hold. */
  readonly match: {
    readonly service?: ServiceName;
    readonly operation?: string;
    readonly table?: string;
    readonly principal?: string;
    readonly predicate?: (subject: FaultSubject) => boolean;
  };
  readonly effect: FaultEffect;
  /** How many calls it applies to; `always` by default. */
  readonly times?: number | 'always';
  /** Applies only to every n-th call that fits; 1 by default. */
  readonly every?: number;
  /** Allows the fault to apply to no call: then {@link Faults.assertApplied} does not throw for it. */
  readonly mayNotApply?: true;
}

export interface FaultHandle {
  /** How many calls it has applied to. */
  readonly hits: number;
  /**
   * Waits until every late call so far was performed.
   * @returns the outcome of each, which no client saw: the status, or the error.
   */
  lateAnswers(): Promise<unknown[]>;
  /** The fault applies to no further call. Late calls are still performed. */
  remove(): void;
}

export interface Faults {
  add(fault: Fault): FaultHandle;
  /**
   * Call it at the end of tests: a test whose fault never applies passes without having tried anything.
   * @throws Error naming each fault that applied to no call, and each fault whose predicate threw, with the place where it was added. A
   *   predicate that throws counts as "does not fit". Removed faults are checked as well.
   */
  assertApplied(): void;
  /** Removes every fault and forgets it: for the next test that uses the same service. */
  clear(): void;
}

export interface FaultSource extends Faults {
  /**
   * Finds the faults that apply to the call: the call fits, and `every` and `times` admit it. Returns the one that was added first, and
   * counts it as applied.
   */
  take(subject: FaultSubject): TakenFault | undefined;
}

export interface TakenFault {
  readonly effect: FaultEffect;
  /** The table that the fault is about. */
  readonly table: string | undefined;
  /** Performs the call later, for the effect `lateBy`. */
  happenLate(lateBy: number | Promise<unknown>, perform: () => Promise<{ readonly status: number }>): void;
}

interface FaultState {
  readonly fault: Fault;
  /** The stack of the code that added the fault. */
  readonly added: string;
  seen: number;
  hits: number;
  readonly late: Promise<unknown>[];
  /** The first error that the predicate of the fault threw. */
  thrown?: unknown;
}

export function createFaults(): FaultSource {
  const all: FaultState[] = [];
  const active = new Set<FaultState>();
  const add = (fault: Fault): FaultHandle => {
    const state: FaultState = { fault, added: callerOf(add), seen: 0, hits: 0, late: [] };
    all.push(state);
    active.add(state);
    return {
      get hits() {
        return state.hits;
      },
      lateAnswers: () => Promise.all(state.late),
      remove: () => active.delete(state),
    };
  };
  return {
    add,
    take(subject) {
      for (const state of active) {
        const { match, effect, times = 'always', every = 1 } = state.fault;
        if (effect === 'conflict' && !subject.conflict) continue;
        if (!fitsSafely(state, subject) || (times !== 'always' && state.hits >= times)) continue;
        state.seen += 1;
        if (state.seen % every !== 0) continue;
        state.hits += 1;
        return {
          effect,
          table: match.table,
          happenLate: (lateBy, perform) => state.late.push(later(lateBy, perform)),
        };
      }
      return undefined;
    },
    assertApplied() {
      const problems = all.flatMap(problemOf);
      if (problems.length > 0) throw new Error(`faults did not do what their tests count on:\n${problems.join('\n')}`);
    },
    clear() {
      active.clear();
      all.length = 0;
    },
  };
}

/** Two lines of the stack: the caller, and its caller, because the first may be a helper. */
function callerOf(add: Faults['add']): string {
  const holder = { stack: '' };
  Error.captureStackTrace(holder, add);
  return holder.stack.split('\n').slice(1, 3).join('\n');
}

function problemOf({ fault, added, hits, thrown }: FaultState): string[] {
  if (thrown === undefined && (hits > 0 || fault.mayNotApply)) return [];
  const what = thrown === undefined ? 'applied to no call' : `has a predicate that threw ${inspect(thrown)}`;
  return [`${inspect(fault, { depth: 4, breakLength: Infinity })} ${what}; it was added\n${added}`];
}

/** An error of a predicate must not reach the client, which would take it for an error of AWS. */
function fitsSafely(state: FaultState, subject: FaultSubject): boolean {
  try {
    return fits(state.fault.match, subject);
  } catch (error) {
    state.thrown ??= error;
    return false;
  }
}

function fits({ service, operation, table, principal, predicate }: Fault['match'], subject: FaultSubject): boolean {
  return (
    (service === undefined || service === subject.service) &&
    (operation === undefined || operation === subject.operation) &&
    (table === undefined || subject.tables.includes(table)) &&
    (principal === undefined || principal === subject.principal) &&
    (predicate === undefined || predicate(subject))
  );
}

/** Performs a late call. It never rejects, because the client is gone. */
async function later(lateBy: number | Promise<unknown>, perform: () => Promise<{ status: number }>): Promise<unknown> {
  // Unreferenced, so that a late call keeps no process alive.
  await (typeof lateBy === 'number' ? setTimeout(lateBy, undefined, { ref: false }) : lateBy.catch(() => {}));
  try {
    return (await perform()).status;
  } catch (error) {
    return error;
  }
}
