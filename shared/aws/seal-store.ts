import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { paginateQuery, type TransactWriteItem } from '@aws-sdk/lib-dynamodb';
import type { LeafState, LeasedLeaf, SealStore } from '../files/seal-leaf.ts';
import type { Seal } from '../files/sealed-names.ts';
import { ACCOUNT_IS_OPEN, accountAt } from './account-store.ts';
import { sealSoon } from './book-updates.ts';
import { dynamoDb, type Item, readBits, readBytes, readOptionalText, readText, tableName } from './dynamodb.ts';
import { fileAt, leafId, leafOfId, SEAL_PREFIX, sealId } from './file-items.ts';
import { failedConditions, transact } from './transactions.ts';

/** How long a transaction on a leaf waits for others, such as deletions of its files. */
const PATIENCE_MS = 2_000;

/**
 * {@link SealStore} in DynamoDB. A seal is an item of its own, beside the row of its leaf. So the transaction of a deletion writes only the
 * row of the leaf, which is small.
 */
export const sealStore: SealStore = {
  async seals(accountId, { first, last }) {
    const seals = new Map<number, Seal>();
    const some = { ProjectionExpression: 'id, folded, unicode' };
    for await (const item of query(accountId, [sealId(first), sealId(last)], some)) {
      const leaf = leafOfId(readText(item, 'id'), SEAL_PREFIX);
      if (leaf !== undefined) seals.set(leaf, toSeal(item));
    }
    return seals;
  },

  async states(accountId, { first, last }) {
    const states = new Map<number, LeafState>();
    const some = { ConsistentRead: true, ProjectionExpression: 'id, removed, work_due_at' };
    for await (const item of query(accountId, [leafId(first), leafId(last)], some)) {
      const leaf = leafOfId(readText(item, 'id'));
      const isDue = item.work_due_at !== undefined;
      if (leaf !== undefined) states.set(leaf, { removed: readBits(item, 'removed'), isDue });
    }
    return states;
  },

  async sealAgain(accountId, leaves, now) {
    const isOpen = { ConditionCheck: { ...accountAt(accountId), ConditionExpression: ACCOUNT_IS_OPEN } };
    const due = leaves.map((leaf) => ({ Update: sealSoon(accountId, leaf, now) }));
    try {
      await transact([isOpen, ...due], { deadlineAt: Date.now() + PATIENCE_MS });
    } catch (error) {
      if (!failedConditions(error)[0]) throw error;
    }
  },

  async seal(work, seal) {
    const { TableName, Key } = fileAt({ accountId: work.accountId, id: sealId(work.leaf) });
    const put = { Put: { TableName, Item: { ...Key, ...sealAttributes(seal) } } };
    return (await endWork(work, put)) ? 'sealed' : 'changed';
  },

  async leaveUnsealed(work) {
    await endWork(work);
  },
};

/**
 * Takes a leaf out of the index of unfinished work, in one transaction with the other writes. A leaf without deleted files needs no row
 * after that, so its row is removed.
 * @returns false when the row of the leaf has changed since the lease was taken. Then nothing is written.
 */
async function endWork(work: LeasedLeaf, ...others: TransactWriteItem[]): Promise<boolean> {
  const { accountId, leaf, removed, leaseEndsAt } = work;
  const row = fileAt({ accountId, id: leafId(leaf) });
  const end =
    removed === 0n
      ? {
          Delete: {
            ...row,
            ConditionExpression: 'work_due_at = :lease AND attribute_not_exists(removed)',
            ExpressionAttributeValues: { ':lease': leaseEndsAt },
          },
        }
      : {
          Update: {
            ...row,
            UpdateExpression: 'REMOVE work_shard, work_due_at',
            ConditionExpression: 'work_due_at = :lease AND removed = :removed',
            ExpressionAttributeValues: { ':lease': leaseEndsAt, ':removed': removed },
          },
        };
  try {
    await transact([end, ...others], { deadlineAt: Date.now() + PATIENCE_MS });
    return true;
  } catch (error) {
    if (failedConditions(error)[0]) return false;
    throw error;
  }
}

/** A seal, as attributes of its row. The names of an account are often similar: compressed, they take a third of the read units. */
export function sealAttributes({ names, unicode }: Seal): Item {
  return { folded: new Uint8Array(deflateRawSync(names)), ...(unicode !== undefined && { unicode }) };
}

export function toSeal(item: Item): Seal {
  const unicode = readOptionalText(item, 'unicode');
  const names = inflateRawSync(readBytes(item, 'folded')).toString('utf8');
  return { names, ...(unicode !== undefined && { unicode }) };
}

/** Every item of an account whose id is in a range. */
async function* query(
  accountId: string,
  [low, high]: readonly [string, string],
  how: { readonly ProjectionExpression: string; readonly ConsistentRead?: boolean },
): AsyncGenerator<Item> {
  const pages = paginateQuery(
    { client: dynamoDb },
    {
      TableName: tableName('files'),
      KeyConditionExpression: 'account_id = :account AND id BETWEEN :low AND :high',
      ExpressionAttributeValues: { ':account': accountId, ':low': low, ':high': high },
      ...how,
    },
  );
  for await (const { Items = [] } of pages) yield* Items;
}
