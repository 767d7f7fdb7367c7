import type { TransactWriteUpdate } from '@aws-sdk/lib-dynamodb';
import { required } from '../env.ts';
import type { FileRef, LeftoverRow, PendingTicket } from '../files/file.ts';
import type { ReleaseStore } from '../files/file-store.ts';
import { accountUpdate, leafUpdate } from './book-updates.ts';
import { fileKey, workShard } from './file-items.ts';
import { transactNamed } from './named-transaction.ts';

const filesTable = required('FILES_TABLE');

/** {@link ReleaseStore} in DynamoDB: one `TransactWriteItems` each, of which one item is the account's. */
export const releaseStore: ReleaseStore = {
  async releaseFile(file, { dueAt }, deadline) {
    const listing = { files: -1, seq: file.seq } as const;
    const failed = await transactNamed(
      {
        row: {
          Update: {
            ...leaves(file, { from: 'ready', to: 'deleting' }),
            // Without its seq it is out of the listing's index.
            UpdateExpression: 'SET #state = :to, work_shard = :shard, work_due_at = :due REMOVE seq',
            ExpressionAttributeValues: {
              ':from': 'ready',
              ':to': 'deleting',
              ':shard': workShard(file),
              ':due': dueAt,
            },
          },
        },
        account: { Update: accountUpdate({ accountId: file.accountId, bytes: -file.sizeBytes, listing }) },
        leaf: { Update: leafUpdate(file.accountId, listing) },
      },
      deadline,
    );
    return failed === undefined ? 'released' : 'changed';
  },

  async releaseTicket(ticket, state, deadline) {
    const failed = await transactNamed(
      {
        row: { Update: ends(ticket, state) },
        account: { Update: accountUpdate({ accountId: ticket.accountId, bytes: -ticket.sizeBytes }) },
      },
      deadline,
    );
    return failed === undefined ? 'released' : 'changed';
  },
};

/** Unless it was renewed since it was read: then it has been handed out again, and the release comes late. */
function ends(ticket: PendingTicket, to: LeftoverRow['state']): TransactWriteUpdate {
  const update = leaves(ticket, { from: 'pending', to });
  return {
    ...update,
    ConditionExpression: `${update.ConditionExpression} AND work_due_at = :seen`,
    ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ':seen': ticket.dueAt },
  };
}

function leaves(ref: FileRef, { from, to }: { from: string; to: string }): TransactWriteUpdate {
  return {
    TableName: filesTable,
    Key: fileKey(ref),
    UpdateExpression: 'SET #state = :to',
    ConditionExpression: '#state = :from',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':from': from, ':to': to },
  };
}
