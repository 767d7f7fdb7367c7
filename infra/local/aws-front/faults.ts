import type { Call, ServiceName } from './call.ts';

/**
 * What happens in place of a call, or to it:
 * - `throttle`: refused as too fast, in the service's own words; nothing happened.
 * - `transaction-conflict`: refused as DynamoDB refuses two transactions on one item; nothing happened. Strikes only what
 *   can conflict: transactions, and writes of one item.
 * - `error-before`: a 500; nothing happened.   - `error-after`: a 500; it did happen.
 * - `timeout`: never answered; nothing happened.
 * - `cut`: the connection ends; nothing happened.   - `cut-after`: the connection ends; it did happen.
 * - `delayMs`: it happens, and is answered that much later. Calls that were sent together then overlap for certain, so the
 *   rounds of the meter are those the caller means.
 */
export type FaultEffect =
  | 'throttle'
  | 'transaction-conflict'
  | 'error-before'
  | 'error-after'
  | 'timeout'
  | 'cut'
  | 'cut-after'
  | { readonly delayMs: number };

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
  /** How many calls it strikes; `always` by default. */
  readonly times?: number | 'always';
  /** Strikes only every n-th of the calls that fit, from the n-th on; 1 by default. */
  readonly every?: number;
}

export interface FaultHandle {
  /** How many calls it has struck. */
  readonly hits: number;
  remove(): void;
}

export interface Faults {
  add(fault: Fault): FaultHandle;
}

export interface FaultSource extends Faults {
  /** What the call suffers: of the faults that fit it, the one added first. `table` is the one the fault is about. */
  strike(subject: FaultSubject): { effect: FaultEffect; table: string | undefined } | undefined;
}

export function createFaults(): FaultSource {
  const active = new Set<{ fault: Fault; seen: number; hits: number }>();
  return {
    add(fault) {
      const state = { fault, seen: 0, hits: 0 };
      active.add(state);
      return {
        get hits() {
          return state.hits;
        },
        remove: () => active.delete(state),
      };
    },
    strike(subject) {
      for (const state of active) {
        const { match, effect, times = 'always', every = 1 } = state.fault;
        if (effect === 'transaction-conflict' && !CAN_CONFLICT.has(subject.operation)) continue;
        if (!fits(match, subject) || (times !== 'always' && state.hits >= times)) continue;
        state.seen += 1;
        if (state.seen % every !== 0) continue;
        state.hits += 1;
        return { effect, table: match.table };
      }
      return undefined;
    },
  };
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
