import type { Fault, FaultHandle, FaultSubject } from '../../local-aws/service.ts';
import type { TestService } from './service.ts';

/** A fault of one of the calls that a function makes to AWS. */
export interface CallFault {
  readonly effect: Fault['effect'];
  /**
   * `once`: the call has the fault, but not the SDK's retry of it. `for good`: its retries have it, too. `and all after it`:
   * all later calls have it, too.
   */
  readonly reach: 'once' | 'for good' | 'and all after it';
}

export interface AppliedFault {
  /** The first call that had the fault; undefined until then. */
  readonly call: FaultSubject | undefined;
  readonly whenApplied: Promise<void>;
  readonly lateAnswers: FaultHandle['lateAnswers'];
  remove(): void;
}

/** Principals of the tests themselves: their calls are not the service's. */
const TEST_PRINCIPALS = new Set(['admin', 'operator']);

/**
 * Adds a fault to the nth different call that the service's functions make from now on (1 is the first). Use it for one
 * request at a time, with events held back, so that all calls belong to that request.
 */
export function applyToNth({ front, tables }: TestService, nth: number, { effect, reach }: CallFault): AppliedFault {
  const positions = new Map<string, number>();
  const { promise: whenApplied, resolve: onApplied } = Promise.withResolvers<void>();
  let call: FaultSubject | undefined;
  const predicate = (subject: FaultSubject): boolean => {
    if (TEST_PRINCIPALS.has(subject.principal)) return false;
    // Rows of the rate limiter are never part of a transaction.
    if (effect === 'conflict' && subject.tables.includes(tables.rateLimits)) return false;
    const identity = identityOf(subject);
    const position = positions.get(identity) ?? positions.size + 1;
    positions.set(identity, position);
    if (reach === 'and all after it' ? position < nth : position !== nth) return false;
    call ??= subject;
    onApplied();
    return true;
  };
  // Callers raise n until there is no such call, so the fault need not apply.
  const times = reach === 'once' ? 1 : 'always';
  const handle = front.faults.add({ match: { predicate }, effect, times, mayNotApply: true });
  return {
    get call() {
      return handle.hits > 0 ? call : undefined;
    },
    whenApplied,
    lateAnswers: handle.lateAnswers,
    remove: handle.remove,
  };
}

/** A text that is equal for a call and its retries, and different for other calls. */
function identityOf({ service, operation, key, input }: FaultSubject): string {
  return `${service} ${operation} ${key ?? ''} ${input ? JSON.stringify(input) : ''}`;
}
