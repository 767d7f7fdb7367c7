import type { TransactWriteUpdate } from '@aws-sdk/lib-dynamodb';
import { type Refusal, refusalOf } from '../accounts/allowance.ts';
import { required } from '../env.ts';
import type { PendingTicket, StoredFile } from '../files/file.ts';
import type { SettlementStore } from '../files/file-store.ts';
import type { Deadline } from '../time-limit.ts';
import { toAccount } from './account-store.ts';
import { accountUpdate, type BookEntry, type Charge, leafUpdate } from './book-updates.ts';
import type { Item } from './dynamodb.ts';
import { claimAttributes, fileAttributes, fileKey, workAttributes } from './file-items.ts';
import { claimForFile, claimForTicket } from './idempotency-store.ts';
import { type FailedItems, type NamedItems, transactNamed } from './named-transaction.ts';

const filesTable = required('FILES_TABLE');

/** {@link SettlementStore} in DynamoDB: one `TransactWriteItems` each, of which one item is the account's. */
export const settlementStore: SettlementStore = {
  async settleUpload({ file, seq, allowance, claim }, deadline) {
    const { accountId, sizeBytes: bytes, createdAt: now } = file;
    const listing = { files: 1, seq } as const;
    const refused = await chargeAccount({ accountId, bytes, listing }, { ...allowance, now }, deadline, (account) => ({
      row: { Update: uploadBecomesFile(file, seq) },
      account: { Update: account },
      leaf: { Update: leafUpdate(accountId, listing) },
      ...(claim && { claim: { Put: claimForFile(claim, file) } }),
    }));
    if (refused === undefined) return 'settled';
    return refused.failed.has('row') ? 'not pending' : (refused.refusal ?? 'key taken');
  },

  async reserve({ ticket, allowance, now, claim }, deadline) {
    const { accountId, sizeBytes: bytes } = ticket;
    const refused = await chargeAccount({ accountId, bytes }, { ...allowance, now }, deadline, (account) => ({
      // Without a condition: the id is new.
      row: { Put: { TableName: filesTable, Item: ticketItem(ticket) } },
      account: { Update: account },
      ...(claim && { claim: { Put: claimForTicket(claim, ticket, claim.replacesTicket) } }),
    }));
    return refused === undefined ? 'reserved' : (refused.refusal ?? 'key taken');
  },

  async settleTicket({ ticket, file, seq, fileCountLimit }, deadline) {
    const listing = { files: 1, seq } as const;
    const { accountId } = file;
    const claim = ticket.idempotency;
    // First as if the key were still the ticket's: it nearly always is so.
    for (let isKeyOurs = true; ; ) {
      const failed = await transactNamed(
        {
          row: { Update: ticketBecomesFile(file, seq) },
          account: { Update: accountUpdate({ accountId, bytes: 0, listing, fileCountLimit }) },
          leaf: { Update: leafUpdate(accountId, listing) },
          ...(claim && isKeyOurs && { claim: { Put: claimForFile(claim, file) } }),
        },
        deadline,
      );
      if (failed === undefined) return 'settled';
      if (failed.has('row')) return 'not pending';
      if (failed.has('account')) return 'no room';
      // The key's 24 hours are over and it stands for something else: this file does without.
      isKeyOurs &&= !failed.has('claim');
    }
  },
};

function uploadBecomesFile(file: StoredFile, seq: number): TransactWriteUpdate {
  return {
    ...becomesFile(file, seq, 'REMOVE work_shard, work_due_at'),
    ConditionExpression: '#state = :pending AND object_key = :object_key',
  };
}

/**
 * Only by the attempt that has the lease. The row stays unfinished work until its ticket ends (one of an earlier version ends
 * when it is due): then the sweeper removes what arrived, and the copies of other attempts.
 */
function ticketBecomesFile(file: StoredFile, seq: number): TransactWriteUpdate {
  const more = `, work_due_at = if_not_exists(ticket_ends_at, work_due_at)
    REMOVE idempotency, attempt_key, attempt_until DELETE attempt_keys :attempt`;
  return {
    ...becomesFile(file, seq, more, { ':attempt': new Set([file.objectKey]) }),
    ConditionExpression: '#state = :pending AND attempt_key = :object_key',
  };
}

function becomesFile(file: StoredFile, seq: number, more: string, values: Item = {}): TransactWriteUpdate {
  const attributes = { ...fileAttributes(file), state: 'ready', seq };
  const names = Object.keys(attributes);
  return {
    TableName: filesTable,
    Key: fileKey(file),
    UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')} ${more}`,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`:${name}`, value])),
      ':pending': 'pending',
      ...values,
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

function ticketItem(ticket: PendingTicket): Item {
  return {
    ...fileKey(ticket),
    state: 'pending',
    lane: 'direct',
    name: ticket.name,
    mime_type: ticket.mimeType,
    size_bytes: ticket.sizeBytes,
    ...(ticket.checksumSha256 !== undefined && { checksum_sha256: ticket.checksumSha256 }),
    ...(ticket.idempotency && { idempotency: claimAttributes(ticket.idempotency) }),
    ticket_ends_at: ticket.ticketEndsAt,
    ...workAttributes(ticket, ticket.dueAt),
  };
}

interface Refused {
  readonly failed: FailedItems;
  /** Present when the account is what refused. */
  readonly refusal?: Refusal;
}

/**
 * Charges an account within its limits. What has changed since the account was read (its own limit, or another day has begun)
 * is learned from the refused attempt, and it is tried again. @returns undefined when all items were written.
 */
async function chargeAccount(
  entry: Omit<BookEntry, 'fileCountLimit' | 'charge'>,
  charge: Charge,
  deadline: Deadline,
  items: (account: TransactWriteUpdate) => NamedItems,
): Promise<Refused | undefined> {
  const { limits, now } = charge;
  let known = charge.known;
  for (;;) {
    const update = accountUpdate({
      ...entry,
      fileCountLimit: limits.fileCountLimit,
      charge: { limits, known, now },
    });
    const failed = await transactNamed(items(update), deadline);
    if (failed === undefined) return undefined;
    const row = failed.get('account');
    if (!row) return { failed };
    const account = toAccount(row);
    const refusal = refusalOf(account, limits, { bytes: entry.bytes, now });
    if (refusal) return { failed, refusal };
    known = account;
  }
}
