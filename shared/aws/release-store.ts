import type { TransactWriteItem, TransactWriteUpdate } from '@aws-sdk/lib-dynamodb';
import type { FileRef, LeftoverRow, PendingTicket, ReadyFile } from '../files/file.ts';
import type { ReleaseStore } from '../files/stores.ts';
import { accountUpdate, leafUpdate } from './book-updates.ts';
import { fileAt, workShard } from './file-items.ts';
import { transactOnBooks } from './transactions.ts';

/** {@link ReleaseStore} in DynamoDB. Each method is one `TransactWriteItems`, and one of its items is the account. */
export const releaseStore: ReleaseStore = {
  async releaseFile(file, { left, now }, deadline) {
    const failed = await transactOnBooks(
      {
        row: left ? { Update: leavesWork(file, left.dueAt) } : leavesNoWork(file),
        account: { Update: accountUpdate({ accountId: file.accountId, bytes: -file.sizeBytes, leaves: file.seq }) },
        leaf: { Update: leafUpdate(file.accountId, file.seq, now) },
      },
      deadline,
    );
    return failed === undefined ? 'released' : 'changed';
  },

  async releaseTicket(ticket, state, deadline) {
    const failed = await transactOnBooks(
      {
        row: { Update: ticketEnds(ticket, state) },
        account: { Update: accountUpdate({ accountId: ticket.accountId, bytes: -ticket.sizeBytes }) },
      },
      deadline,
    );
    return failed === undefined ? 'released' : 'changed';
  },
};

/** The row of a deleted file whose objects the sweeper has to remove. Without its seq it leaves the index of the listing. */
function leavesWork(file: ReadyFile, dueAt: number): TransactWriteUpdate {
  const update = changesState(file, { from: 'ready', to: 'deleting' });
  return {
    ...update,
    UpdateExpression: `${update.UpdateExpression}, work_shard = :shard, work_due_at = :due REMOVE seq`,
    ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ':shard': workShard(file), ':due': dueAt },
  };
}

/** Removes the row of a deleted file whose objects are removed. If the file came by a ticket, the row stays until the ticket ends. */
function leavesNoWork(file: ReadyFile): TransactWriteItem {
  const update = changesState(file, { from: 'ready', to: 'deleting' });
  if (file.ticketEndsAt !== undefined) {
    return {
      Update: {
        ...update,
        UpdateExpression: `${update.UpdateExpression} REMOVE seq`,
        // It fails when the sweeper has just finished the work of the ticket: then the sweeper would never remove this row.
        ConditionExpression: `${update.ConditionExpression} AND attribute_exists(ticket_ends_at)`,
      },
    };
  }
  return {
    Delete: {
      ...fileAt(file),
      ConditionExpression: '#state = :ready',
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: { ':ready': 'ready' },
    },
  };
}

/** Changes the state of a ticket. It fails when the ticket was renewed since it was read, because its client still uses it. */
function ticketEnds(ticket: PendingTicket, to: LeftoverRow['state']): TransactWriteUpdate {
  const update = changesState(ticket, { from: 'pending', to });
  return {
    ...update,
    ConditionExpression: `${update.ConditionExpression} AND work_due_at = :seen`,
    ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ':seen': ticket.dueAt },
  };
}

function changesState(ref: FileRef, { from, to }: { from: string; to: string }): TransactWriteUpdate {
  return {
    ...fileAt(ref),
    UpdateExpression: 'SET #state = :to',
    ConditionExpression: '#state = :from',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':from': from, ':to': to },
  };
}
