import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { PutCommand, QueryCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { WalkState, WorkItem, WorkStore } from '../files/work-store.ts';
import { dynamoDb, type Item, readBits, readNumber, readOptionalText, readText, tableName } from './dynamodb.ts';
import { fileAt, leafOfId, toFileRow } from './file-items.ts';
import { writeItem } from './transactions.ts';

/** The partition of the rows of the walk. The id of a row is the number of its shard. */
const WALK = '#walk';

/** {@link WorkStore} in DynamoDB. The sparse index `unfinished` has the keys of the rows that the sweeper has to finish. */
export const workStore: WorkStore = {
  async dueAmongFew(now, limit) {
    const { Items = [], LastEvaluatedKey } = await dynamoDb.send(
      new ScanCommand({
        TableName: tableName('files'),
        IndexName: 'unfinished',
        FilterExpression: 'work_due_at <= :now',
        ExpressionAttributeValues: { ':now': now },
        // The rows that the filter leaves out count as well.
        Limit: limit,
      }),
    );
    return LastEvaluatedKey ? undefined : Items.map(toWorkItem);
  },

  async due(shard, now, limit) {
    const { Items = [] } = await dynamoDb.send(
      new QueryCommand({
        TableName: tableName('files'),
        IndexName: 'unfinished',
        KeyConditionExpression: 'work_shard = :shard AND work_due_at <= :now',
        ExpressionAttributeValues: { ':shard': String(shard), ':now': now },
        Limit: limit,
      }),
    );
    return Items.map(toWorkItem);
  },

  async lease(item, dueAt) {
    const row = await takeLease(item, dueAt);
    const file = row && toFileRow(row);
    return file?.state === 'deleting' ? file : undefined;
  },

  async leaseLeaf(item, dueAt) {
    const { accountId, leaf } = item;
    const row = await takeLease(item, dueAt);
    return row && { accountId, leaf, removed: readBits(row, 'removed'), leaseEndsAt: dueAt };
  },

  async walks() {
    // There is one small item for each shard, so all fit into one page.
    const { Items = [] } = await dynamoDb.send(
      new QueryCommand({
        TableName: tableName('files'),
        KeyConditionExpression: 'account_id = :walk',
        ExpressionAttributeValues: { ':walk': WALK },
        ConsistentRead: true,
      }),
    );
    return new Map(Items.map((item) => [Number(readText(item, 'id')), toWalk(item)]));
  },

  async saveWalk(shard, state) {
    const { TableName, Key } = fileAt({ accountId: WALK, id: String(shard) });
    const Item: Item = {
      ...Key,
      started_at: state.startedAt,
      ...(state.after !== undefined && { after: state.after }),
      is_over: state.isOver,
      checked_before: state.checkedBefore,
      until: state.until,
      has_failed: state.hasFailed,
    };
    await dynamoDb.send(new PutCommand({ TableName, Item }));
  },
};

function toWorkItem(item: Item): WorkItem {
  const id = readText(item, 'id');
  const leaf = leafOfId(id);
  return {
    accountId: readText(item, 'account_id'),
    id,
    dueAt: readNumber(item, 'work_due_at'),
    ...(leaf !== undefined && { leaf }),
  };
}

function toWalk(item: Item): WalkState {
  const after = readOptionalText(item, 'after');
  return {
    startedAt: readNumber(item, 'started_at'),
    ...(after !== undefined && { after }),
    isOver: item.is_over === true,
    checkedBefore: readNumber(item, 'checked_before'),
    until: readNumber(item, 'until'),
    hasFailed: item.has_failed === true,
  };
}

/** Takes the lease on a row: moves its due time. @returns the row; undefined when another process has taken or finished it. */
async function takeLease(item: WorkItem, dueAt: number): Promise<Item | undefined> {
  const command = new UpdateCommand({
    ...fileAt(item),
    UpdateExpression: 'SET work_due_at = :lease',
    // The condition fails for the second of two sweepers that want a row, and when the index is behind the row.
    ConditionExpression: 'work_due_at = :seen',
    ExpressionAttributeValues: { ':lease': dueAt, ':seen': item.dueAt },
    ReturnValues: 'ALL_NEW',
  });
  try {
    const { Attributes } = await writeItem(() => dynamoDb.send(command));
    return Attributes;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}
