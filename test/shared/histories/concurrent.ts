import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { FAULTS, type Fault } from '../files/faults.ts';
import { type Answer, NO_ANSWER } from './access.ts';
import { recorder } from './linearizability.ts';
import { type Asked, clientsOf, expectOrder, type Shared, type Told, told } from './shared-objects.ts';
import { applyFault, world } from './started.ts';

const PAUSES = ['pauses before', 'pauses after'] as const;
const nth = fc.integer({ min: 1, max: 12 });

const anyOf = (faults: readonly Fault[]) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.record({ fault: fc.constantFrom(...faults), nth }) },
    { weight: 2, arbitrary: fc.record({ fault: fc.constantFrom(...PAUSES), nth }) },
  );

/** Several clients use one account at the same time, with faults. */
export function expectLinearizable<State>(shared: Shared<State>, numRuns: number): Promise<void> {
  const one = fc.tuple(shared.asked, anyOf(shared.faults ?? FAULTS));
  return expectOrder(shared, one, numRuns, (plans) => recordCalls(plans, shared));
}

async function deliver(key: string): Promise<Answer> {
  await world.deliver(key);
  return { ...NO_ANSWER, status: 200 };
}

type Plan = readonly (readonly [Asked, { fault: Fault; nth: number } | undefined])[];

async function recordCalls(plans: readonly Plan[], shared: Pick<Shared<unknown>, 'prepare'>) {
  const { stores, clock, request } = world;
  const accountId = randomUUID();
  await stores.accounts.upsert({ id: accountId, email: `${accountId}@example.com`, name: 'Somebody' }, clock.now());
  const { header: credential = {} } = await world.newKey(accountId, 'the key');
  const cookie = (await world.logIn(accountId)) ?? {};
  const { ids, named, perform } = await clientsOf(
    {
      byKey: (name, one) => request(name, { credential, ...one }),
      bySession: (name, one) => request(name, { credential: cookie, ...one }),
    },
    shared,
  );
  clock.pass(2 * 60_000);
  ids.arrived = world.arrived.splice(0);
  const { calls, call } = recorder<Asked, Told>();
  const late: (() => Promise<void>)[] = [];
  const waiting: (() => void)[] = [];
  let working = plans.length;
  /** A request that pauses goes on when every other client has ended, or pauses too. */
  const stop = () => {
    working--;
    if (working === 0) waiting.shift()?.();
  };
  const pause = async () => {
    const turn = Promise.withResolvers<void>();
    waiting.push(turn.resolve);
    stop();
    await turn.promise;
    working++;
  };
  await Promise.all(
    plans.map(async (plan) => {
      for (const [asked, bad] of plan) {
        const one = named(asked);
        if (one === undefined) continue;
        await call(one, async () => {
          let answer = NO_ANSWER;
          const work = async () => {
            answer = await (one.do === 'event of the bucket' ? deliver(one.name) : perform(one));
          };
          const [fault, nth] = [bad?.fault ?? 'dies before', bad?.nth ?? Number.POSITIVE_INFINITY];
          const { end, happenLate, resume } = await applyFault(fault, nth, work, { mayNotApply: true });
          late.push(happenLate);
          if (end === 'pause') {
            await pause();
            await resume();
          }
          return told(answer);
        });
        if (late.length > 2) await late.shift()?.();
      }
      stop();
    }),
  );
  for (const happenLate of late) await happenLate();
  clock.pass(2 * 60_000);
  return calls;
}
