import fc from 'fast-check';
import { FAULTS } from '../files/faults.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './clock.ts';

/** Which of the things that an action may be about; 0 is the newest. */
const which = fc.nat(3);
const size = fc.nat(9);
const word = fc.constantFrom('a', 'B', 'Ab');
const key = fc.option(fc.constantFrom('k1', 'k2'), { freq: 2 });

const ACTIONS = {
  form: [6, fc.record({ word, size, key, isStream: fc.boolean() })],
  ticket: [5, fc.record({ word, size, key })],
  again: [9, fc.record({ which })],
  put: [10, fc.record({ which, isLost: fc.boolean() })],
  complete: [10, fc.record({ which })],
  event: [7, fc.record({ which, isRepeated: fc.boolean() })],
  cancel: [2, fc.record({ which })],
  delete: [12, fc.record({ which, mayBeGone: fc.constantFrom(false, false, false, true) })],
  get: [3, fc.record({ which })],
  foreign: [1, fc.record({ which, route: fc.constantFrom('getFile', 'deleteFile', 'completeUpload', 'cancelUpload') })],
  list: [
    3,
    fc.record({ page: fc.integer({ min: 1, max: 3 }), limit: fc.constantFrom(1, 2, 100), search: fc.option(word) }),
  ],
  usage: [1, fc.record({})],
  'new key': [2, fc.record({})],
  'list keys': [1, fc.record({})],
  revoke: [5, fc.record({ which })],
  login: [2, fc.record({})],
  logout: [1, fc.record({})],
  'end sessions': [1, fc.record({ isOperator: fc.boolean() })],
  suspend: [1, fc.record({})],
  restore: [4, fc.record({})],
  'set limit': [1, fc.record({ bytes: fc.constantFrom(undefined, 10, 50) })],
  'take down': [1, fc.record({ which })],
  reconcile: [1, fc.record({})],
  'delete account': [1, fc.record({})],
  // One in four looks at every shard, and walks the whole bucket.
  sweep: [7, fc.record({ isWhole: fc.constantFrom(false, false, false, true) })],
  expire: [1, fc.record({ daysLate: fc.constantFrom(0, 2) })],
  wait: [
    8,
    fc.record({
      ms: fc.constantFrom(
        10 * SECOND_MS,
        10 * SECOND_MS,
        30 * SECOND_MS,
        MINUTE_MS,
        2 * MINUTE_MS,
        11 * MINUTE_MS,
        11 * MINUTE_MS,
        11 * MINUTE_MS,
        22 * MINUTE_MS,
        23 * HOUR_MS,
        26 * HOUR_MS,
        8 * DAY_MS,
      ),
    }),
  ],
  late: [5, fc.record({ which })],
  resume: [8, fc.record({})],
} as const;

/** How many calls most actions make at most, and those that make more: faults at calls that are not made would be wasted. */
const CALLS = 8;
const MANY_CALLS = new Set<ActionName>(['complete', 'event', 'sweep', 'take down', 'delete account']);

type Actions = typeof ACTIONS;
type ActionName = keyof Actions;
type ActionOf<Name extends ActionName> = {
  [N in Name]: Actions[N][1] extends fc.Arbitrary<infer Fields> ? Fields & { do: N } : never;
}[Name];
/** Something that happens, with its fields. */
export type Action = ActionOf<ActionName>;

const action = fc.oneof(
  ...Object.entries(ACTIONS).map(([name, [weight, fields]]) => ({
    weight,
    arbitrary: (fields as fc.Arbitrary<object>).map((more) => ({ do: name, ...more })) as fc.Arbitrary<Action>,
  })),
);

const fault = fc.record({
  fault: fc.constantFrom(...FAULTS, 'pauses before' as const, 'pauses after' as const),
  /** At which call, if there are so many; see {@link CALLS}. */
  nth: fc.integer({ min: 1, max: 12 }),
});

/** One thing that happens, and what goes wrong meanwhile. */
const step = fc.record({
  account: fc.constantFrom(0, 0, 0, 1),
  action,
  /** The credential of the request. */
  by: fc.constantFrom('key', 'key', 'key', 'session', 'any'),
  fault: fc.option(fault, { nil: null, freq: 4 }),
  /** How far the clock of this machine is ahead of the others. */
  aheadMs: fc.constantFrom(0, 0, 1_400, -1_400),
});

export type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
export type History = typeof history extends fc.Arbitrary<infer H> ? H : never;

/** How many files the first account has had before: almost as many as a leaf of its listing has, so that searches soon read the leaf's seal. */
const age = fc.constantFrom(0, 0, 0, 60);

function withinCalls({ fault, ...one }: Step): Step {
  const hasMany = MANY_CALLS.has(one.action.do);
  return { ...one, fault: fault && !hasMany ? { ...fault, nth: ((fault.nth - 1) % CALLS) + 1 } : fault };
}

const ABOUT_FILES = new Set<ActionName>([
  'form',
  'ticket',
  'again',
  'put',
  'complete',
  'event',
  'cancel',
  'delete',
  'get',
  'late',
  'resume',
  'wait',
]);
const NARROW = 60;

/** Steps about two files of one account, so that faults meet on the same file. */
function narrow(steps: readonly Step[]): Step[] {
  const chosen = steps.filter(({ action }) => ABOUT_FILES.has(action.do)).slice(0, NARROW);
  return chosen.map(({ action, ...one }) => ({
    ...one,
    account: 0,
    action: { ...action, ...('which' in action && { which: action.which % 2 }), ...('key' in action && { key: 'k1' }) },
  }));
}

/** What does not happen in a history. */
const without = fc.record({
  actions: fc.subarray(Object.keys(ACTIONS).filter((name) => name !== 'form' && name !== 'ticket')),
  faults: fc.subarray([...FAULTS, 'pauses before' as const, 'pauses after' as const]),
});

/**
 * Half of the histories leave out other actions and faults, so that those that are left meet more often ("swarm testing"); the other half are
 * narrow. Without the bias of fast-check to small examples, because short histories reach little.
 */
export const history = fc.noBias(
  fc
    .record({
      age,
      steps: fc.array(step, { minLength: 1, maxLength: 180, size: 'max' }),
      without,
      isNarrow: fc.boolean(),
    })
    .map(({ age, steps, without: { actions, faults }, isNarrow }) => {
      if (isNarrow) return { age, steps: narrow(steps).map(withinCalls) };
      const left = steps.filter(({ action }) => !actions.includes(action.do)).map(withinCalls);
      return {
        age,
        steps: left.map((one) => (one.fault && faults.includes(one.fault.fault) ? { ...one, fault: null } : one)),
      };
    }),
);
