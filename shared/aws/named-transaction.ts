import type { TransactWriteItem } from '@aws-sdk/lib-dynamodb';
import { ApiError } from '../errors.ts';
import type { Item } from './dynamodb.ts';
import { failedConditions, transact } from './transactions.ts';

/** What a transaction on the books may touch: the file's row, the account, the listing leaf, the idempotency record. */
export type ItemName = 'row' | 'account' | 'leaf' | 'claim';
/** The items whose condition failed, as they were; empty when not there. */
export type FailedItems = ReadonlyMap<ItemName, Item>;
export type NamedItems = Partial<Record<ItemName, TransactWriteItem>>;

/**
 * Writes all items or none.
 * @returns undefined when they were written; else what failed.
 * @throws ApiError `unauthorized` when the account has been suspended or deleted; and what {@link transact} throws.
 */
export async function transactNamed(
  items: NamedItems,
  deadline: { deadlineAt: number },
): Promise<FailedItems | undefined> {
  const names = Object.keys(items) as ItemName[];
  try {
    await transact(Object.values(items), deadline);
    return undefined;
  } catch (error) {
    const failed = new Map<ItemName, Item>();
    failedConditions(error).forEach((found, index) => {
      if (found) failed.set(names[index] as ItemName, found);
    });
    if (failed.size === 0) throw error;
    const account = failed.get('account');
    if (account && (!account.id || account.suspended)) {
      throw new ApiError('unauthorized', { detail: 'the account is suspended or gone', cause: error });
    }
    return failed;
  }
}
