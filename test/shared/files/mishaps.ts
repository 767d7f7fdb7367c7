import { AsyncLocalStorage } from 'node:async_hooks';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { serviceUnavailable } from '../../../shared/errors.ts';
import { IS_THOROUGH } from '../../support/thorough.ts';

/**
 * What may become of a call to AWS, and of the process that makes it: the process dies before the call reaches AWS or after
 * it had its effect; or the call fails (for good: after all retries), without or with its effect.
 */
export const MISHAPS = ['dies before', 'dies after', 'fails before', 'fails after'] as const;
export type Mishap = (typeof MISHAPS)[number];

/**
 * Those that are tried at each call: two for every change, all of them by `npm run test:soak`, whose list has all who use
 * this (test/support/thorough.test.ts).
 */
export const TRIED: readonly Mishap[] = IS_THOROUGH ? MISHAPS : ['dies after', 'fails before'];

export interface Outcome {
  readonly end: 'success' | 'error' | 'death';
  /** Calls that were made, or would have been. */
  readonly calls: number;
}

/** Lets mishaps happen to the product's own clients. To be called once, after the stores were loaded. */
export async function mishapsOfProduct() {
  const [{ dynamoDb }, { s3 }] = await Promise.all([
    import('../../../shared/aws/dynamodb.ts'),
    import('../../../shared/aws/s3.ts'),
  ]);
  type Perform = () => Promise<never>;
  const works = new AsyncLocalStorage<(perform: Perform) => Promise<never>>();
  for (const { middlewareStack } of [dynamoDb, s3] as unknown as DynamoDBClient[]) {
    middlewareStack.add(
      (next) => (args) => {
        const perform: Perform = () => next(args) as Promise<never>;
        return works.getStore()?.(perform) ?? perform();
      },
      { step: 'initialize' },
    );
  }

  /**
   * Does the work, with a mishap at the nth call it makes. Who died makes no further call and learns of nothing. Several
   * works may be struck at once, each at a call of its own.
   */
  return async function strike(mishap: Mishap, nth: number, work: () => Promise<unknown>): Promise<Outcome> {
    const death = Promise.withResolvers<'death'>();
    const never = new Promise<never>(() => {});
    let calls = 0;
    let isDead = false;
    const suffer = async (perform: Perform): Promise<never> => {
      calls++;
      if (isDead) return never;
      if (calls !== nth) return perform();
      isDead = mishap.startsWith('dies');
      if (mishap.endsWith('after')) await perform().catch(() => {});
      if (!isDead) throw serviceUnavailable({ cause: new Error(mishap) });
      death.resolve('death');
      return never;
    };
    const finished = works.run(suffer, work).then(
      () => 'success' as const,
      () => 'error' as const,
    );
    return { end: await Promise.race([finished, death.promise]), calls };
  };
}
