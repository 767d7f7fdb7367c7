import { DeleteCommand, GetCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import type { FileRef } from '../files/file.ts';
import type { FileStore } from '../files/stores.ts';
import { dynamoDb, failedCondition, type Item } from './dynamodb.ts';
import { fileAt, toFileRow } from './file-items.ts';
import { writeItem } from './transactions.ts';

/** `state` is a reserved word. */
const STATE = { '#state': 'state' };

/** {@link FileStore} in DynamoDB; `docs/architecture/row-shapes.ts` says what the rows hold. */
export const fileStore: FileStore = {
  async get(ref) {
    const { Item } = await dynamoDb.send(new GetCommand({ ...fileAt(ref), ConsistentRead: true }));
    return Item && toFileRow(Item);
  },

  async renewTicket(ref, ticketEndsAt) {
    const found = await updateIf(ref, {
      UpdateExpression: 'SET work_due_at = :end, ticket_ends_at = :end',
      // A renewal that arrives late must not take back a later one.
      ConditionExpression: '#state = :pending AND via = :ticket AND ticket_ends_at < :end',
      ExpressionAttributeNames: STATE,
      ExpressionAttributeValues: { ':pending': 'pending', ':ticket': 'ticket', ':end': ticketEndsAt },
    });
    return found === undefined || found.state === 'pending';
  },

  async beginAttempt(ref, { objectKey, until }, now) {
    const found = await updateIf(ref, {
      UpdateExpression: 'SET attempt_key = :key, attempt_until = :until ADD attempt_keys :keys',
      // A write that is repeated because its answer was lost finds its own lease. A write that arrives after its attempt has
      // ended finds only its key, and fails.
      ConditionExpression: `#state = :pending AND via = :ticket AND (attempt_key = :key
        OR ((attribute_not_exists(attempt_until) OR attempt_until <= :now) AND NOT contains(attempt_keys, :key)))`,
      ExpressionAttributeNames: STATE,
      ExpressionAttributeValues: {
        ':pending': 'pending',
        ':ticket': 'ticket',
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
    const row = found && toFileRow(found);
    return row?.state === 'ready' && row.objectKey === objectKey ? row : undefined;
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

/** @returns undefined when the update was made; else the row as the failed condition found it, empty when there is none. */
function updateIf(ref: FileRef, input: Omit<UpdateCommandInput, 'TableName' | 'Key'>): Promise<Item | undefined> {
  const command = new UpdateCommand({ ...fileAt(ref), ReturnValuesOnConditionCheckFailure: 'ALL_OLD', ...input });
  return failedCondition(writeItem(() => dynamoDb.send(command)));
}
