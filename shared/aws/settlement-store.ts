import type { Update } from '@aws-sdk/client-dynamodb';
import { required } from '../env.ts';
import type { PendingTicket, StoredFile } from '../files/file.ts';
import type { Deadline, SettlementStore, StorageLimit } from '../files/settlement-store.ts';
import { type Item, number, text } from './attributes.ts';
import { accountUpdate, type BookEntry, leafUpdate } from './book-updates.ts';
import { claimAttributes, fileAttributes, fileKey, workAttributes } from './file-items.ts';
import { claimForFile, claimForTicket } from './idempotency-store.ts';
import { type FailedItems, type NamedItems, transactNamed } from './named-transaction.ts';

const filesTable = required('FILES_TABLE');

/** {@link SettlementStore} in DynamoDB: one `TransactWriteItems` each, of which one item is the account's. */
export const settlementStore: SettlementStore = {
  async settleUpload({ file, seq, limit, claim }, deadline) {
    const listing = { files: 1, seq } as const;
    const failed = await chargeWithin(limit, deadline, (known) => ({
      row: { Update: uploadBecomesFile(file, seq) },
      account: { Update: accountUpdate({ accountId: file.accountId, bytes: file.sizeBytes, listing, limit: known }) },
      leaf: { Update: leafUpdate(file.accountId, listing) },
      ...(claim && { claim: { Put: claimForFile(claim, file) } }),
    }));
    if (failed === undefined) return 'settled';
    if (failed.has('row')) return 'not pending';
    return failed.has('claim') ? 'key taken' : 'no room';
  },

  async reserve({ ticket, limit, claim }, deadline) {
    const failed = await chargeWithin(limit, deadline, (known) => ({
      // Without a condition: the id is new.
      row: { Put: { TableName: filesTable, Item: ticketItem(ticket) } },
      account: { Update: accountUpdate({ accountId: ticket.accountId, bytes: ticket.sizeBytes, limit: known }) },
      ...(claim && { claim: { Put: claimForTicket(claim, ticket, claim.replacesTicket) } }),
    }));
    if (failed === undefined) return 'reserved';
    return failed.has('claim') ? 'key taken' : 'no room';
  },

  async settleTicket({ ticket, file, seq, leftoversDueAt }, deadline) {
    const listing = { files: 1, seq } as const;
    const { accountId } = file;
    const claim = ticket.idempotency;
    // First as if this were the only attempt and the key were still the ticket's: it nearly always is so.
    let [hasLeftovers, isKeyOurs] = [false, true];
    for (;;) {
      const failed = await transactNamed(
        {
          row: { Update: ticketBecomesFile(file, seq, hasLeftovers ? leftoversDueAt : undefined) },
          account: { Update: accountUpdate({ accountId, bytes: 0, listing }) },
          leaf: { Update: leafUpdate(accountId, listing) },
          ...(claim && isKeyOurs && { claim: { Put: claimForFile(claim, file) } }),
        },
        deadline,
      );
      if (failed === undefined) return 'settled';
      const row = failed.get('row');
      if (row && (hasLeftovers || row.state?.S !== 'pending')) return 'not pending';
      hasLeftovers ||= row !== undefined;
      // The key's 24 hours are over and it stands for something else: this file does without.
      isKeyOurs &&= !failed.has('claim');
    }
  },
};

function uploadBecomesFile(file: StoredFile, seq: number): Update {
  return {
    ...becomesFile(file, seq, 'REMOVE work_shard, work_due_at'),
    ConditionExpression: '#state = :pending AND object_key = :object_key',
  };
}

/** @param leftoversDueAt  with other attempts on the row: when the sweeper is to remove their copies. */
function ticketBecomesFile(file: StoredFile, seq: number, leftoversDueAt: number | undefined): Update {
  const attempt = { ':attempt': { SS: [file.objectKey] } };
  if (leftoversDueAt === undefined) {
    const update = becomesFile(file, seq, 'REMOVE work_shard, work_due_at, attempt_keys, idempotency', attempt);
    return { ...update, ConditionExpression: '#state = :pending AND attempt_keys = :attempt' };
  }
  const work = ', work_due_at = :due REMOVE idempotency DELETE attempt_keys :attempt';
  const update = becomesFile(file, seq, work, { ...attempt, ':due': number(leftoversDueAt) });
  return { ...update, ConditionExpression: '#state = :pending' };
}

function becomesFile(file: StoredFile, seq: number, more: string, values: Item = {}): Update {
  const attributes = { ...fileAttributes(file), state: text('ready'), seq: number(seq) };
  const names = Object.keys(attributes);
  return {
    TableName: filesTable,
    Key: fileKey(file),
    UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')} ${more}`,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`:${name}`, value])),
      ':pending': text('pending'),
      ...values,
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

function ticketItem(ticket: PendingTicket): Item {
  return {
    ...fileKey(ticket),
    state: text('pending'),
    lane: text('direct'),
    name: text(ticket.name),
    mime_type: text(ticket.mimeType),
    size_bytes: number(ticket.sizeBytes),
    ...(ticket.checksumSha256 !== undefined && { checksum_sha256: text(ticket.checksumSha256) }),
    ...(ticket.idempotency && { idempotency: { M: claimAttributes(ticket.idempotency) } }),
    ...workAttributes(ticket, ticket.dueAt),
  };
}

/** Charges an account within its limit, whose own one, if it has been changed, is learned from the refusal. */
async function chargeWithin(
  limit: StorageLimit,
  deadline: Deadline,
  items: (known: NonNullable<BookEntry['limit']>) => NamedItems,
): Promise<FailedItems | undefined> {
  let ownBytes = limit.ownBytes;
  for (;;) {
    const known = { bytes: ownBytes ?? limit.defaultBytes, isOwn: ownBytes !== undefined };
    const failed = await transactNamed(items(known), deadline);
    const account = failed?.get('account');
    if (!account) return failed;
    const own = account.storage_limit_bytes?.N;
    const ownNow = own === undefined ? undefined : Number(own);
    if (ownNow === ownBytes) return failed;
    ownBytes = ownNow;
  }
}
