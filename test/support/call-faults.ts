import type { Fault, FaultHandle, FaultSubject } from '../../local-aws/aws-front/faults.ts';
import type { TestService } from './service.ts';

/** What goes wrong at one of the calls to AWS that a function makes. */
export interface CallFault {
  readonly effect: Fault['effect'];
  /**
   * `once`: the call goes wrong, and the SDK's own retry of it does not. `for good`: its retries go wrong as well. `and all
   * after it`: as do all calls that follow.
   */
  readonly reach: 'once' | 'for good' | 'and all after it';
}

export interface AppliedFault {
  /** The first call it applied to; undefined while there was none. */
  readonly call: FaultSubject | undefined;
  readonly whenApplied: Promise<void>;
  readonly lateAnswers: FaultHandle['lateAnswers'];
  /** Ends it. */
  remove(): void;
}

/** Who looks at the service from outside: their calls are none of its own. */
const OUTSIDERS = new Set(['admin', 'operator']);

/**
 * The nth different call that the service's functions make from now on (1 is the first) has the fault. To be used for one
 * request at a time, with events held back, so that all these calls are the request's.
 */
export function applyToNth({ front, tables }: TestService, nth: number, { effect, reach }: CallFault): AppliedFault {
  const places = new Map<string, number>();
  const { promise: whenApplied, resolve: tell } = Promise.withResolvers<void>();
  let call: FaultSubject | undefined;
  const predicate = (subject: FaultSubject): boolean => {
    if (OUTSIDERS.has(subject.principal)) return false;
    // No transaction ever touches the limiter's rows.
    if (effect === 'transaction-conflict' && subject.tables.includes(tables.rateLimits)) return false;
    const identity = identityOf(subject);
    const place = places.get(identity) ?? places.size + 1;
    places.set(identity, place);
    if (reach === 'and all after it' ? place < nth : place !== nth) return false;
    call ??= subject;
    tell();
    return true;
  };
  // Who uses it counts the calls by raising n until there is none.
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

/** The same for a call and its retries. */
function identityOf({ service, operation, key, input }: FaultSubject): string {
  return `${service} ${operation} ${key ?? ''} ${input ? JSON.stringify(input) : ''}`;
}
