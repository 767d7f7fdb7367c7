import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { leavesOfGroup, type SeqRange } from '../files/listing-counters.ts';
import type { ListingStore } from '../files/stores.ts';
import { dynamoDb, type Item, readBits, readNumber, readText, tableName } from './dynamodb.ts';
import { leafId, leafOfId, toListedFile } from './file-items.ts';

/** {@link ListingStore} in DynamoDB. It reads the rows of leaves, and the local index `by_seq` of the files. */
export const listingStore: ListingStore = {
  async removedByLeaf(accountId, group) {
    const { first, last } = leavesOfGroup(group);
    // These are at most 128 items. Each has up to 80 bytes, or 110 while its leaf is due for a new seal. So they fit into one page, and
    // take at most four read units.
    const { Items = [] } = await dynamoDb.send(
      new QueryCommand({
        TableName: tableName('files'),
        ConsistentRead: true,
        KeyConditionExpression: 'account_id = :account AND id BETWEEN :first AND :last',
        ExpressionAttributeValues: {
          ':account': accountId,
          ':first': leafId(first),
          ':last': leafId(last),
        },
      }),
    );
    return toRemovedByLeaf(Items);
  },

  async files(accountId, range, { end, limit }) {
    const { Items = [], LastEvaluatedKey } = await dynamoDb.send(
      new QueryCommand({
        TableName: tableName('files'),
        IndexName: 'by_seq',
        ConsistentRead: true,
        KeyConditionExpression: 'account_id = :account AND seq BETWEEN :low AND :high',
        ExpressionAttributeValues: {
          ':account': accountId,
          ':low': range.low,
          ':high': range.high,
        },
        ScanIndexForward: end === 'oldest',
        Limit: limit,
      }),
    );
    const files = Items.map(toListedFile);
    const rest = LastEvaluatedKey && restAfter(range, readNumber(LastEvaluatedKey, 'seq'), end);
    return { files, ...(rest && { rest }) };
  },
};

/** What remains of a range after the file at `seq` was read; undefined when nothing remains. */
function restAfter({ low, high }: SeqRange, seq: number, end: 'newest' | 'oldest'): SeqRange | undefined {
  const rest = end === 'newest' ? { low, high: seq - 1 } : { low: seq + 1, high };
  return rest.low <= rest.high ? rest : undefined;
}

/** The bitmaps of removed files by leaf, from the rows of leaves among these items. */
export function toRemovedByLeaf(items: readonly Item[]): Map<number, bigint> {
  const leaves = new Map<number, bigint>();
  for (const item of items) {
    const leaf = leafOfId(readText(item, 'id'));
    if (leaf !== undefined) leaves.set(leaf, readBits(item, 'removed'));
  }
  return leaves;
}
