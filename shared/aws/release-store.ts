import type { TransactWriteUpdate } from '@aws-sdk/lib-dynamodb';
import type { FileRef, LeftoverRow, PendingTicket } from '../files/file.ts';
import type { ReleaseStore } from '../files/file-store.ts';
import { accountUpdate, leafUpdate } from './book-updates.ts';
import { fileAt, workShard } from './file-items.ts';
import { transactOnBooks } from './transactions.ts';

/** {@link ReleaseStore} in DynamoDB. Each method is one `TransactWriteItems`, and one of its items is the account. */
export const releaseStore: ReleaseStore = {
  async releaseFile(file, { dueAt }, deadline) {
    const row = changesState(file, { from: 'ready', to: 'deleting' });
    const failed = await transactOnBooks(
      {
        row: {
          Update: {
            ...row,
            // Without its seq the row leaves the index of the listing.
            UpdateExpression: `${row.UpdateExpression}, work_shard = :shard, work_due_at = :due REMOVE seq`,
            ExpressionAttributeValues: {
              ...row.ExpressionAttributeValues,
              ':shard': workShard(file),
              ':due': dueAt,
            },
          },
        },
        account: { Update: accountUpdate({ accountId: file.accountId, bytes: -file.sizeBytes, leaves: file.seq }) },
        leaf: { Update: leafUpdate(file.accountId, file.seq, dueAt) },
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

/** It fails when the ticket was renewed since it was read: then the client holds it again, and the release comes too late. */
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
