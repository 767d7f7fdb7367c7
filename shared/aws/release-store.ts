import type { TransactWriteUpdate } from '@aws-sdk/lib-dynamodb';
import { ApiError } from '../errors.ts';
import type { ReadyFile } from '../files/file.ts';
import type { ReleaseStore } from '../files/stores.ts';
import { accountUpdate, leafUpdate } from './book-updates.ts';
import { fileAt, workShard } from './file-items.ts';
import { ticketIsReleased } from './ticket-store.ts';
import { transactOnBooks } from './transactions.ts';

/**
 * {@link ReleaseStore} in DynamoDB. Each attempt of a method is one `TransactWriteItems`, and one of its items is the account, unless the
 * account is gone.
 */
export const releaseStore: ReleaseStore = {
  async releaseFile(file, { left, now }, deadline) {
    const failed = await transactOnBooks(
      {
        row: left ? { Update: leavesObject(file, left.dueAt) } : { Delete: { ...fileAt(file), ...IS_READY } },
        account: { Update: accountUpdate({ accountId: file.accountId, bytes: -file.sizeBytes, removes: file.seq }) },
        leaf: { Update: leafUpdate(file.accountId, file.seq, now) },
      },
      deadline,
    );
    return failed === undefined ? 'released' : 'changed';
  },

  async releaseTicket(ticket, state, deadline) {
    const released = { Update: ticketIsReleased(ticket, state) };
    const account = { Update: accountUpdate({ accountId: ticket.accountId, bytes: -ticket.sizeBytes }) };
    const failed = await transactOnBooks({ ticket: released, account }, deadline).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.code === 'unauthorized')) throw error;
      // The account is gone, for example because its table was restored to an earlier time. So there are no books to correct.
      return transactOnBooks({ ticket: released }, deadline);
    });
    return failed === undefined ? 'released' : 'changed';
  },
};

/** The update of the row of a deleted file whose object the sweeper has to remove. Without `seq`, the row is not in the index by_seq. */
function leavesObject(file: ReadyFile, dueAt: number): TransactWriteUpdate {
  return {
    ...fileAt(file),
    UpdateExpression: 'SET #state = :deleting, work_shard = :shard, work_due_at = :due REMOVE seq',
    ...IS_READY,
    ExpressionAttributeValues: {
      ...IS_READY.ExpressionAttributeValues,
      ':deleting': 'deleting',
      ':shard': workShard(file),
      ':due': dueAt,
    },
  };
}

const IS_READY = {
  ConditionExpression: '#state = :ready',
  ExpressionAttributeNames: { '#state': 'state' },
  ExpressionAttributeValues: { ':ready': 'ready' },
} as const;
