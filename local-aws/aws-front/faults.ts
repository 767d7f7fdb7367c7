import { setTimeout } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { Call, ServiceName } from './protocol.ts';

/**
 * What happens in place of a call, or to it:
 * - `throttle`: the service refuses it as too fast, in its own words; nothing happened.
 * - `transaction-conflict`: DynamoDB refuses it because of another transaction on the same item; nothing happened. Applies
 *   only to calls that can conflict: transactions, and writes of one item.
 * - `error-before`: a 500; nothing happened.   - `error-after`: a 500; it did happen.
 * - `timeout`: never answered; nothing happened.
 * - `cut`: the connection ends; nothing happened.   - `cut-after`: the connection ends; it did happen.
 * - `delayMs`: it happens, and is answered that much later. Calls that were sent together then overlap for certain, so the
 *   rounds of the meter are those the caller means.
 * - `lateBy`: the connection ends once the whole request has arrived, and the call happens only later: so many milliseconds
 *   after that, or when the promise settles. Until then the client may have tried again, succeeded, and gone on.
 */
export type FaultEffect =
  | 'throttle'
  | 'transaction-conflict'
  | 'error-before'
  | 'error-after'
  | 'timeout'
  | 'cut'
  | 'cut-after'
  | { readonly delayMs: number }
  | { readonly lateBy: number | Promise<unknown> };

/** Nothing else takes part in transactions. */
const CAN_CONFLICT = new Set(['TransactWriteItems', 'TransactGetItems', 'PutItem', 'UpdateItem', 'DeleteItem']);

/** A call as a fault may look at it. */
export interface FaultSubject extends Pick<Call, 'service' | 'operation' | 'tables' | 'input' | 'bucket' | 'key'> {
  /** Name of the principal. */
  readonly principal: string;
}

export interface Fault {
  /** All that are given must fit. */
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
  /** Applies only to every n-th of the calls that fit, from the n-th on; 1 by default. */
  readonly every?: number;
  /** For a fault that is meant to apply to nothing, or that may. {@link Faults.assertApplied} then does not miss it. */
  readonly mayNotApply?: true;
}

export interface FaultHandle {
  /** How many calls it has applied to. */
  readonly hits: number;
  /**
   * Waits until every late call so far has happened.
   * @returns what each was answered, to no one: the status, or the error.
   */
  lateAnswers(): Promise<unknown[]>;
  /** Applies to no further call; what is late still happens. */
  remove(): void;
}

export interface Faults {
  add(fault: Fault): FaultHandle;
  /**
   * To be called at the end of tests: one that adds a fault which never applies passes without having tried anything.
   * @throws Error naming each fault that applied to no call, and each whose predicate threw (which counts as "does not fit"),
   * with the place where it was added. Faults that were removed count as well.
   */
  assertApplied(): void;
  /** Removes every fault and forgets it: for the next test that uses the same service. */
  clear(): void;
}

export interface FaultSource extends Faults {
  /** Of the faults that fit the call, the one added first; it is counted as applied. */
  take(subject: FaultSubject): TakenFault | undefined;
}

export interface TakenFault {
  readonly effect: FaultEffect;
  /** The table that the fault is about. */
  readonly table: string | undefined;
  /** Carries the call out when it is time, for an effect that is late. */
  happenLate(lateBy: number | Promise<unknown>, perform: () => Promise<{ readonly status: number }>): void;
}

interface FaultState {
  readonly fault: Fault;
  /** Stack of the code that added it. */
  readonly added: string;
  seen: number;
  hits: number;
  readonly late: Promise<unknown>[];
  /** What its predicate threw first. */
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
        if (effect === 'transaction-conflict' && !CAN_CONFLICT.has(subject.operation)) continue;
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

/** The two innermost lines of the stack: the one that calls, and the one that calls that, since a helper may be between. */
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

/** A predicate that throws must not look to the caller like an error of AWS, which a fault may well be meant to be. */
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

/** Never rejects: the client that could be told has gone. */
async function later(lateBy: number | Promise<unknown>, perform: () => Promise<{ status: number }>): Promise<unknown> {
  // Without a reference: a call that is still to happen keeps no process alive.
  await (typeof lateBy === 'number' ? setTimeout(lateBy, undefined, { ref: false }) : lateBy.catch(() => {}));
  try {
    return (await perform()).status;
  } catch (error) {
    return error;
  }
}
