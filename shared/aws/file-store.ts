import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, GetCommand, PutCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { required } from '../env.ts';
import type { FileRef } from '../files/file.ts';
import type { FileStore } from '../files/file-store.ts';
import { dynamoDb, foundItem, type Item, readNumber } from './dynamodb.ts';
import { fileKey, toFileRow, workAttributes } from './file-items.ts';
import { writeItem } from './transactions.ts';

const tableName = required('FILES_TABLE');

const PENDING = { names: { '#state': 'state' }, values: { ':pending': 'pending' } };

/** {@link FileStore} in DynamoDB; `file-items.ts` says what the rows hold. */
export const fileStore: FileStore = {
  async get(ref) {
    const { Item } = await dynamoDb.send(
      new GetCommand({ TableName: tableName, Key: fileKey(ref), ConsistentRead: true }),
    );
    return Item && toFileRow(Item);
  },

  async putPending(upload) {
    const Item: Item = {
      ...fileKey(upload),
      state: 'pending',
      lane: 'multipart',
      object_key: upload.objectKey,
      ...workAttributes(upload, upload.dueAt),
    };
    try {
      const command = new PutCommand({
        TableName: tableName,
        Item,
        // An attempt that was given up may arrive when the upload has become a file, which it must not turn back.
        ConditionExpression: 'attribute_not_exists(id)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
      await writeItem(() => dynamoDb.send(command));
    } catch (error) {
      // Written by an attempt before, whose answer was lost: the key of the object is this upload's alone.
      const isOurs =
        error instanceof ConditionalCheckFailedException && foundItem(error)?.object_key === upload.objectKey;
      if (!isOurs) throw error;
    }
  },

  async renew(ref, dueAt) {
    const found = await updateIf(ref, {
      UpdateExpression: 'SET work_due_at = :due',
      // A renewal that arrives late must not take back a later one.
      ConditionExpression: '#state = :pending AND work_due_at < :due',
      ExpressionAttributeNames: PENDING.names,
      ExpressionAttributeValues: { ...PENDING.values, ':due': dueAt },
    });
    return found === undefined || found.state === 'pending';
  },

  async renewTicket(ref, ticketEndsAt) {
    const found = await updateIf(ref, {
      UpdateExpression: 'SET work_due_at = :end, ticket_ends_at = :end',
      // Of a ticket of an earlier version only `work_due_at` is known.
      ConditionExpression: `#state = :pending AND lane = :direct
        AND (attribute_not_exists(ticket_ends_at) OR ticket_ends_at < :end)`,
      ExpressionAttributeNames: PENDING.names,
      ExpressionAttributeValues: { ...PENDING.values, ':direct': 'direct', ':end': ticketEndsAt },
    });
    return found === undefined || found.state === 'pending';
  },

  async giveUp(ref) {
    const found = await updateIf(ref, {
      UpdateExpression: 'SET #state = :deleting',
      ConditionExpression: '#state = :pending AND lane = :multipart',
      ExpressionAttributeNames: PENDING.names,
      ExpressionAttributeValues: {
        ...PENDING.values,
        ':deleting': 'deleting',
        ':multipart': 'multipart',
      },
    });
    const state = found?.state;
    // Given up already: by an attempt of ours whose answer was lost, or by the sweeper.
    if (found === undefined || state === 'deleting') return 'given up';
    return state === 'ready' ? 'settled' : 'absent';
  },

  async beginAttempt(ref, { objectKey, until }, now) {
    const found = await updateIf(ref, {
      UpdateExpression: 'SET attempt_key = :key, attempt_until = :until ADD attempt_keys :keys',
      // A write that is repeated because its answer was lost finds its own lease. One that arrives late, when the attempt has
      // ended, finds its key alone.
      ConditionExpression: `#state = :pending AND lane = :direct AND (attempt_key = :key
        OR ((attribute_not_exists(attempt_until) OR attempt_until <= :now) AND NOT contains(attempt_keys, :key)))`,
      ExpressionAttributeNames: PENDING.names,
      ExpressionAttributeValues: {
        ...PENDING.values,
        ':direct': 'direct',
        ':key': objectKey,
        ':keys': new Set([objectKey]),
        ':until': until,
        ':now': now,
      },
    });
    if (found === undefined) return 'begun';
    return found.state === 'pending' ? 'busy' : 'not pending';
  },

  async endAttempt(ref, objectKey) {
    const found = await updateIf(ref, {
      UpdateExpression: 'REMOVE attempt_key, attempt_until',
      ConditionExpression: 'attempt_key = :key',
      ExpressionAttributeValues: { ':key': objectKey },
    });
    return found?.state === 'ready' && found.object_key === objectKey ? 'settled' : 'ended';
  },

  async takeSeq(accountId, now) {
    try {
      return await updateSeq(accountId, {
        UpdateExpression: 'SET last_at = :now ADD #next :one',
        ConditionExpression: 'attribute_not_exists(last_at) OR last_at <= :now',
        ExpressionAttributeValues: { ':one': 1, ':now': now },
      });
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      // Another server's clock was ahead of ours: time stands still until ours has caught up.
      return updateSeq(accountId, {
        UpdateExpression: 'ADD #next :one',
        ExpressionAttributeValues: { ':one': 1 },
      });
    }
  },

  async postpone(ref, dueAt) {
    await updateIf(ref, {
      UpdateExpression: 'SET work_due_at = :due',
      ConditionExpression: '#state = :deleting',
      ExpressionAttributeNames: PENDING.names,
      ExpressionAttributeValues: { ':deleting': 'deleting', ':due': dueAt },
    });
  },

  async remove(ref) {
    try {
      await writeItem(() =>
        dynamoDb.send(
          new DeleteCommand({
            TableName: tableName,
            Key: fileKey(ref),
            ConditionExpression: '#state IN (:deleting, :cancelled, :refused)',
            ExpressionAttributeNames: PENDING.names,
            ExpressionAttributeValues: {
              ':deleting': 'deleting',
              ':cancelled': 'cancelled',
              ':refused': 'refused',
            },
          }),
        ),
      );
    } catch (error) {
      // Gone, or no leftover: nothing to do.
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  },
};

async function updateSeq(
  accountId: string,
  input: Omit<UpdateCommandInput, 'TableName' | 'Key'>,
): Promise<{ seq: number; createdAt: number }> {
  const command = new UpdateCommand({
    TableName: tableName,
    Key: fileKey({ accountId, id: '#seq' }),
    ExpressionAttributeNames: { '#next': 'next' },
    ReturnValues: 'ALL_NEW',
    ...input,
  });
  const { Attributes = {} } = await writeItem(() => dynamoDb.send(command));
  return { seq: readNumber(Attributes, 'next'), createdAt: readNumber(Attributes, 'last_at') };
}

/** @returns the row as it was when the condition failed (empty when there is none); undefined when the update was made. */
async function updateIf(ref: FileRef, input: Omit<UpdateCommandInput, 'TableName' | 'Key'>): Promise<Item | undefined> {
  try {
    await writeItem(() =>
      dynamoDb.send(
        new UpdateCommand({
          TableName: tableName,
          Key: fileKey(ref),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          ...input,
        }),
      ),
    );
    return undefined;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return foundItem(error) ?? {};
    throw error;
  }
}
