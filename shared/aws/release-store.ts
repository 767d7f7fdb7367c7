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
  async releaseFile(file, { now, dueAt }, deadline) {
    const failed = await transactOnBooks(
      {
        row: { Update: fileIsDeleted(file, dueAt) },
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

/** Without `seq`, the row leaves the index by_seq; `work_shard` and `work_due_at` put it into the index of unfinished work. */
function fileIsDeleted(file: ReadyFile, dueAt: number): TransactWriteUpdate {
  return {
    ...fileAt(file),
    UpdateExpression: 'SET #state = :deleting, work_shard = :shard, work_due_at = :due REMOVE seq',
    ConditionExpression: '#state = :ready',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: {
      ':ready': 'ready',
      ':deleting': 'deleting',
      ':shard': workShard(file.accountId),
      ':due': dueAt,
    },
  };
}
