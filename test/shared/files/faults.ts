import { AsyncLocalStorage } from 'node:async_hooks';
import { serviceUnavailable } from '../../../shared/errors.ts';
import { IS_THOROUGH } from '../../support/thorough.ts';

/**
 * What may happen to a call to AWS, and to the process that makes it:
 * - the process dies before the call reaches AWS, or after the call had its effect;
 * - the call fails for good (after all retries), without its effect or with it;
 * - the call fails for good, and has its effect late, when its caller has gone on;
 * - the call succeeds at its second attempt, and the first attempt, whose answer was lost, has its effect late as well.
 */
export const FAULTS = [
  'dies before',
  'dies after',
  'fails before',
  'fails after',
  'fails and happens late',
  'happens again late',
] as const;
/** A process may also stop before or after a call for as long as a test likes, while others go on. */
export type Fault = (typeof FAULTS)[number] | 'pauses before' | 'pauses after';

/**
 * The faults that the tests try. `npm test` tries these three in turn, one at each call; `npm run test:soak` tries every fault at every
 * call. test/soak.test.ts checks that `npm run test:soak` runs every test file that uses the list.
 */
export const TRIED: readonly Fault[] = IS_THOROUGH ? FAULTS : ['dies after', 'fails before', 'happens again late'];

/** The faults to try at the nth call: in `npm test` one of {@link TRIED}, the next one at the next call; in `npm run test:soak` all. */
export function triedAt(nth: number): readonly Fault[] {
  return IS_THOROUGH ? FAULTS : TRIED.slice(nth % TRIED.length).slice(0, 1);
}

export interface Outcome {
  readonly end: 'success' | 'error' | 'death' | 'pause';
  /** The number of calls that were made, including those that the fault prevented. */
  readonly calls: number;
  /** The key of the object that the late call reads or writes, if any. */
  readonly lateKey: string | undefined;
  /** Makes the late call, if there is one. */
  happenLate(): Promise<void>;
  /** Lets a paused process go on. @returns when its work has ended. */
  resume(): Promise<void>;
  /** The process makes no further calls, and gets no answers. */
  kill(): void;
}

/** Applies faults to the product's own clients. To be called once, after the stores were loaded. */
export async function faultsOfProduct() {
  const [{ dynamoDb, dynamoDbOnce }, { s3 }] = await Promise.all([
    import('../../../shared/aws/dynamodb.ts'),
    import('../../../shared/aws/object-store.ts'),
  ]);
  interface Call {
    readonly perform: () => Promise<never>;
    readonly key: string | undefined;
  }
  const works = new AsyncLocalStorage<(call: Call) => Promise<never>>();
  type Send = (command: { readonly input: object }, ...options: unknown[]) => Promise<never>;
  for (const client of [dynamoDb, dynamoDbOnce, s3] as unknown as { send: Send }[]) {
    // Not a middleware: a late call is made after its work has ended, and the time limit of the work would have aborted it by then.
    const send = client.send.bind(client);
    client.send = (command, ...options) => {
      const perform = () => send(command, ...options);
      const { Key } = command.input as { Key?: unknown };
      return works.getStore()?.({ perform, key: typeof Key === 'string' ? Key : undefined }) ?? perform();
    };
  }

  /**
   * Does the work, with a fault at the nth call that it makes. A process that died makes no further calls and gets no answers. Several
   * works may run with a fault at the same time, each at a call of its own.
   * @param nth  `Infinity` for no fault: then the calls are counted.
   * @param options  `mayNotApply` for a work that may make fewer calls.
   * @throws Error when the work made fewer calls, so that the fault was not tried.
   */
  return async function applyFault(
    fault: Fault,
    nth: number,
    work: () => Promise<unknown>,
    options: { readonly mayNotApply?: boolean } = {},
  ): Promise<Outcome> {
    const stop = Promise.withResolvers<'death' | 'pause'>();
    const resumed = Promise.withResolvers<void>();
    const never = new Promise<never>(() => {});
    let calls = 0;
    let isDead = false;
    let late: Call | undefined;
    const make = async (call: Call): Promise<never> => {
      calls++;
      if (isDead) return never;
      if (calls !== nth) return call.perform();
      isDead = fault.startsWith('dies');
      if (fault.endsWith('late')) late = call;
      if (fault === 'happens again late') return call.perform();
      if (fault.startsWith('pauses')) {
        const answer = fault === 'pauses after' ? call.perform() : undefined;
        await answer?.catch(() => {});
        stop.resolve('pause');
        await resumed.promise;
        return isDead ? never : (answer ?? call.perform());
      }
      if (fault.endsWith('after')) await call.perform().catch(() => {});
      if (!isDead) throw serviceUnavailable(new Error(fault));
      stop.resolve('death');
      return never;
    };
    const finished = works.run(make, work).then(
      () => 'success' as const,
      () => 'error' as const,
    );
    const end = await Promise.race([finished, stop.promise]);
    if (calls < nth && nth !== Number.POSITIVE_INFINITY && !options.mayNotApply) {
      throw new Error(`"${fault}" applied to no call: it was to apply to call ${nth}, and there were ${calls}`);
    }
    return {
      end,
      calls,
      lateKey: late?.key,
      // The late call may be refused, which changes nothing.
      happenLate: async () => late?.perform().catch(() => {}),
      async resume() {
        resumed.resolve();
        await finished;
      },
      kill() {
        isDead = true;
      },
    };
  };
}
