import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { leavesOfGroup } from '../files/listing-counters.ts';
import type { ListingStore } from '../files/stores.ts';
import { dynamoDb, type Item, readBits, readNumber, readText, tableName } from './dynamodb.ts';
import { leafId, leafOfId, toListedFile } from './file-items.ts';

/** {@link ListingStore} in DynamoDB. It reads the rows of leaves, and the local index `by_seq` of the files. */
export const listingStore: ListingStore = {
  async removedByLeaf(accountId, group) {
    const { first, last } = leavesOfGroup(group);
    // These are at most 128 small items, which fit into one page and take at most four read units.
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

  async files(accountId, range, limit) {
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
        ScanIndexForward: false,
        Limit: limit,
      }),
    );
    const files = Items.map(toListedFile);
    const high = LastEvaluatedKey && readNumber(LastEvaluatedKey, 'seq') - 1;
    return { files, ...(high !== undefined && high >= range.low && { rest: { low: range.low, high } }) };
  },
};

/** The bitmaps of removed files by leaf, from the rows of leaves among these items. */
export function toRemovedByLeaf(items: readonly Item[]): Map<number, bigint> {
  const leaves = new Map<number, bigint>();
  for (const item of items) {
    const leaf = leafOfId(readText(item, 'id'));
    if (leaf !== undefined) leaves.set(leaf, readBits(item, 'removed'));
  }
  return leaves;
}
