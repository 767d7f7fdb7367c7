import type { FaultEffect, FaultHandle, FaultSubject } from '../../infra/local/aws-front/faults.ts';
import type { TestAccount, TestService } from './service.ts';

/** What goes wrong at one of the calls to AWS that a request makes. */
export interface Mishap {
  readonly effect: FaultEffect;
  /**
   * `once`: the call goes wrong, and the SDK's own retry of it does not. `for good`: its retries go wrong as well. `and all
   * after it`: as do all calls that follow.
   */
  readonly reach: 'once' | 'for good' | 'and all after it';
  /** Counts only these operations. */
  readonly among?: string;
}

export interface Strike {
  /** The call that was struck; undefined while none was. */
  readonly struck: FaultSubject | undefined;
  readonly whenStruck: Promise<void>;
  /** Ends it. */
  remove(): void;
}

export interface Mishaps {
  /**
   * The nth different call made for the account from now on (1 is the first) suffers it. Calls by which a request finds out
   * who asks, and is counted, are left out: nothing has to balance there.
   */
  strike(account: TestAccount, nth: number, mishap: Mishap): Strike;
}

/**
 * Tells for whom a call to AWS is made, so that requests of several accounts can be struck at once, each at a call of its
 * own. One request of an account at a time.
 */
export function mishapsOf({ front, tables }: TestService): Mishaps {
  const leftOut = new Set([tables.apiKeys, tables.rateLimits]);
  const ownerOfKey = new Map<string, string>();
  // Added first, so it sees every call; it strikes none.
  front.faults.add({ match: { predicate: (subject) => learn(ownerOfKey, subject) }, effect: 'throttle' });
  return {
    strike(account, nth, { effect, reach, among }) {
      const seen = new Map<string, number>();
      const { promise: whenStruck, resolve: tell } = Promise.withResolvers<void>();
      let struck: FaultSubject | undefined;
      const isHit = (subject: FaultSubject): boolean => {
        if (among !== undefined && subject.operation !== among) return false;
        if (subject.tables.some((table) => leftOut.has(table))) return false;
        if (!isFor(account, subject, ownerOfKey)) return false;
        const call = identityOf(subject);
        const place = seen.get(call) ?? seen.size + 1;
        seen.set(call, place);
        if (reach === 'and all after it' ? place < nth : place !== nth) return false;
        struck ??= subject;
        tell();
        return true;
      };
      const fault: FaultHandle = front.faults.add({
        match: { predicate: isHit },
        effect,
        times: reach === 'once' ? 1 : 'always',
      });
      return {
        get struck() {
          return struck;
        },
        whenStruck,
        remove: fault.remove,
      };
    },
  };
}

/** The same for a call and its retries. */
function identityOf({ service, operation, key, input }: FaultSubject): string {
  return `${service} ${operation} ${key ?? ''} ${input ? JSON.stringify(input) : ''}`;
}

function isFor(
  { id }: TestAccount,
  { input, key = '' }: FaultSubject,
  ownerOfKey: ReadonlyMap<string, string>,
): boolean {
  return input ? JSON.stringify(input).includes(id) : key.includes(id) || ownerOfKey.get(key) === id;
}

/** The key of an object says nothing of its owner; but it was written to the owner's row before. */
function learn(ownerOfKey: Map<string, string>, { service, input }: FaultSubject): false {
  if (service !== 'dynamodb' || !input) return false;
  const text = JSON.stringify(input);
  const [accountId] = /(?<="account_id":\{"S":")[^"]+/.exec(text) ?? [];
  if (accountId !== undefined) for (const key of text.match(/uploads\/\w+/g) ?? []) ownerOfKey.set(key, accountId);
  return false;
}
