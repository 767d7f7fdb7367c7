import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, GetCommand, PutCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import type { FileRef } from '../files/file.ts';
import type { FileStore } from '../files/file-store.ts';
import { dynamoDb, failedCondition, type Item, readNumber } from './dynamodb.ts';
import { fileAt, STORED_VIA, toFileRow, workAttributes } from './file-items.ts';
import { writeItem } from './transactions.ts';

/** `state` is a reserved word. */
const STATE = { '#state': 'state' };

/** {@link FileStore} in DynamoDB; `docs/architecture/row-shapes.ts` says what the rows hold. */
export const fileStore: FileStore = {
  async get(ref) {
    const { Item } = await dynamoDb.send(new GetCommand({ ...fileAt(ref), ConsistentRead: true }));
    return Item && toFileRow(Item);
  },

  async putPending(upload) {
    const { TableName, Key } = fileAt(upload);
    const pending = { state: 'pending', lane: STORED_VIA.form, object_key: upload.objectKey };
    const Item: Item = { ...Key, ...pending, ...workAttributes(upload, upload.dueAt) };
    const command = new PutCommand({
      TableName,
      Item,
      // An attempt that was given up may arrive when the upload is a file already, which it must not turn back.
      ConditionExpression: 'attribute_not_exists(id)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    const found = await failedCondition(writeItem(() => dynamoDb.send(command)));
    // The same row, written by an earlier attempt whose answer was lost, is fine: no other upload has this object key.
    if (found && found.object_key !== upload.objectKey)
      throw new Error(`there is another row with the id ${upload.id}`);
  },

  async renew(ref, dueAt) {
    const found = await updateIf(ref, {
      UpdateExpression: 'SET work_due_at = :due',
      // A renewal that arrives late must not take back a later one.
      ConditionExpression: '#state = :pending AND work_due_at < :due',
      ExpressionAttributeNames: STATE,
      ExpressionAttributeValues: { ':pending': 'pending', ':due': dueAt },
    });
    return found === undefined || found.state === 'pending';
  },

  async renewTicket(ref, ticketEndsAt) {
    const found = await updateIf(ref, {
      UpdateExpression: 'SET work_due_at = :end, ticket_ends_at = :end',
      // A renewal that arrives late must not take back a later one.
      ConditionExpression: '#state = :pending AND lane = :ticket AND ticket_ends_at < :end',
      ExpressionAttributeNames: STATE,
      ExpressionAttributeValues: { ':pending': 'pending', ':ticket': STORED_VIA.ticket, ':end': ticketEndsAt },
    });
    return found === undefined || found.state === 'pending';
  },

  async giveUp(ref) {
    const found = await updateIf(ref, {
      UpdateExpression: 'SET #state = :deleting',
      ConditionExpression: '#state = :pending AND lane = :form',
      ExpressionAttributeNames: STATE,
      ExpressionAttributeValues: {
        ':pending': 'pending',
        ':deleting': 'deleting',
        ':form': STORED_VIA.form,
      },
    });
    const state = found?.state;
    // It may be given up already: by an earlier attempt of ours whose answer was lost, or by the sweeper.
    if (found === undefined || state === 'deleting') return 'given up';
    return state === 'ready' ? 'settled' : 'absent';
  },

  async beginAttempt(ref, { objectKey, until }, now) {
    const found = await updateIf(ref, {
      UpdateExpression: 'SET attempt_key = :key, attempt_until = :until ADD attempt_keys :keys',
      // A write that is repeated because its answer was lost finds its own lease. A write that arrives after its attempt has
      // ended finds only its key, and fails.
      ConditionExpression: `#state = :pending AND lane = :ticket AND (attempt_key = :key
        OR ((attribute_not_exists(attempt_until) OR attempt_until <= :now) AND NOT contains(attempt_keys, :key)))`,
      ExpressionAttributeNames: STATE,
      ExpressionAttributeValues: {
        ':pending': 'pending',
        ':ticket': STORED_VIA.ticket,
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
      // The clock of another server was ahead of ours: `last_at` stays as it is until our clock has caught up.
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
      ExpressionAttributeNames: STATE,
      ExpressionAttributeValues: { ':deleting': 'deleting', ':due': dueAt },
    });
  },

  async remove(ref) {
    const command = new DeleteCommand({
      ...fileAt(ref),
      // It fails when the row is gone already or is no leftover: then there is nothing to do.
      ConditionExpression: '#state IN (:deleting, :cancelled, :refused)',
      ExpressionAttributeNames: STATE,
      ExpressionAttributeValues: { ':deleting': 'deleting', ':cancelled': 'cancelled', ':refused': 'refused' },
    });
    await failedCondition(writeItem(() => dynamoDb.send(command)));
  },
};

async function updateSeq(
  accountId: string,
  input: Omit<UpdateCommandInput, 'TableName' | 'Key'>,
): Promise<{ seq: number; createdAt: number }> {
  const command = new UpdateCommand({
    ...fileAt({ accountId, id: '#seq' }),
    ExpressionAttributeNames: { '#next': 'next' },
    ReturnValues: 'ALL_NEW',
    ...input,
  });
  const { Attributes = {} } = await writeItem(() => dynamoDb.send(command));
  return { seq: readNumber(Attributes, 'next'), createdAt: readNumber(Attributes, 'last_at') };
}

/** @returns undefined when the update was made; else the row as the failed condition found it, empty when there is none. */
function updateIf(ref: FileRef, input: Omit<UpdateCommandInput, 'TableName' | 'Key'>): Promise<Item | undefined> {
  const command = new UpdateCommand({ ...fileAt(ref), ReturnValuesOnConditionCheckFailure: 'ALL_OLD', ...input });
  return failedCondition(writeItem(() => dynamoDb.send(command)));
}
