import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { required } from '../env.ts';
import type { WorkStore } from '../files/work-store.ts';
import { dynamoDb, type Item, readNumber, readOptionalText, readText } from './dynamodb.ts';
import { fileKey, toFileRow } from './file-items.ts';
import { writeItem } from './transactions.ts';

const tableName = required('FILES_TABLE');
const WALK = fileKey({ accountId: '#walk', id: '#walk' });

/** {@link WorkStore} in DynamoDB: the sparse index `unfinished`, which holds keys alone. */
export const workStore: WorkStore = {
  async due(shard, now, limit) {
    const { Items = [] } = await dynamoDb.send(
      new QueryCommand({
        TableName: tableName,
        IndexName: 'unfinished',
        KeyConditionExpression: 'work_shard = :shard AND work_due_at <= :now',
        ExpressionAttributeValues: { ':shard': String(shard), ':now': now },
        Limit: limit,
      }),
    );
    return Items.map((item) => ({
      accountId: readText(item, 'account_id'),
      id: readText(item, 'id'),
      dueAt: readNumber(item, 'work_due_at'),
    }));
  },

  async claim(item, dueAt) {
    try {
      const { Attributes } = await writeItem(() =>
        dynamoDb.send(
          new UpdateCommand({
            TableName: tableName,
            Key: fileKey(item),
            UpdateExpression: 'SET work_due_at = :lease',
            // Of two sweepers one sees it change; so does one whose index is behind the row.
            ConditionExpression: 'work_due_at = :seen',
            ExpressionAttributeValues: { ':lease': dueAt, ':seen': item.dueAt },
            ReturnValues: 'ALL_NEW',
          }),
        ),
      );
      return Attributes && toFileRow(Attributes);
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return undefined;
      throw error;
    }
  },

  async finishReady(ref) {
    try {
      await writeItem(() =>
        dynamoDb.send(
          new UpdateCommand({
            TableName: tableName,
            Key: fileKey(ref),
            UpdateExpression: 'REMOVE work_shard, work_due_at, attempt_keys, ticket_ends_at',
            // Deleted meanwhile: then the row is work of another kind.
            ConditionExpression: '#state = :ready',
            ExpressionAttributeNames: { '#state': 'state' },
            ExpressionAttributeValues: { ':ready': 'ready' },
          }),
        ),
      );
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  },

  async walk() {
    const { Item } = await dynamoDb.send(new GetCommand({ TableName: tableName, Key: WALK, ConsistentRead: true }));
    if (!Item) return undefined;
    const after = readOptionalText(Item, 'after');
    return {
      startedAt: readNumber(Item, 'started_at'),
      ...(after !== undefined && { after }),
      isOver: Item.is_over === true,
      checkedBefore: readNumber(Item, 'checked_before'),
      until: readNumber(Item, 'until'),
      hasFailed: Item.has_failed === true,
    };
  },

  async saveWalk(state) {
    const Item: Item = {
      ...WALK,
      started_at: state.startedAt,
      ...(state.after !== undefined && { after: state.after }),
      is_over: state.isOver,
      checked_before: state.checkedBefore,
      until: state.until,
      has_failed: state.hasFailed,
    };
    await dynamoDb.send(new PutCommand({ TableName: tableName, Item }));
  },
};
