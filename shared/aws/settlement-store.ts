import type { TransactWriteUpdate } from '@aws-sdk/lib-dynamodb';
import { type Refusal, refusalOf } from '../accounts/allowance.ts';
import type { FileRef, LeftoverRow, PendingTicket, StoredFile } from '../files/file.ts';
import type { ReleaseStore, SettlementStore } from '../files/file-store.ts';
import type { Deadline } from '../time-limit.ts';
import { toAccount } from './account-store.ts';
import { accountUpdate, type BookEntry, type Charge, leafUpdate } from './book-updates.ts';
import type { Item } from './dynamodb.ts';
import { claimAttributes, fileAt, fileAttributes, STORED_VIA, workAttributes, workShard } from './file-items.ts';
import { claimForFile, claimForTicket } from './idempotency-store.ts';
import { type FailedItems, type NamedItems, transactOnBooks } from './transactions.ts';

/** {@link SettlementStore} in DynamoDB. Each method is one `TransactWriteItems`, and one of its items is the account. */
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
    const { TableName, Key } = fileAt(ticket);
    const refused = await chargeAccount({ accountId, bytes }, { ...allowance, now }, deadline, (account) => ({
      // It needs no condition, because the id is new.
      row: { Put: { TableName, Item: { ...Key, ...ticketAttributes(ticket) } } },
      account: { Update: account },
      ...(claim && { claim: { Put: claimForTicket(claim, ticket, claim.replacesTicket) } }),
    }));
    return refused === undefined ? 'reserved' : (refused.refusal ?? 'key taken');
  },

  async settleTicket({ ticket, file, seq, fileCountLimit }, deadline) {
    const listing = { files: 1, seq } as const;
    const { accountId } = file;
    const claim = ticket.idempotency;
    // The first attempt assumes that the key still belongs to the ticket, which is nearly always so.
    for (let isKeyOurs = true; ; ) {
      const failed = await transactOnBooks(
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
      // The key's 24 hours are over and it belongs to something else now, so the file is settled without it.
      isKeyOurs &&= !failed.has('claim');
    }
  },
};

/** {@link ReleaseStore} in DynamoDB. Each method is one `TransactWriteItems`, and one of its items is the account. */
export const releaseStore: ReleaseStore = {
  async releaseFile(file, { dueAt }, deadline) {
    const listing = { files: -1, seq: file.seq } as const;
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
        account: { Update: accountUpdate({ accountId: file.accountId, bytes: -file.sizeBytes, listing }) },
        leaf: { Update: leafUpdate(file.accountId, listing) },
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

function uploadBecomesFile(file: StoredFile, seq: number): TransactWriteUpdate {
  return {
    ...becomesFile(file, seq, 'REMOVE work_shard, work_due_at'),
    ConditionExpression: '#state = :pending AND object_key = :object_key',
  };
}

/**
 * Only the attempt that holds the lease can make this update. The row stays unfinished work until its ticket ends: then the
 * sweeper removes what arrived, and the copies of other attempts.
 */
function ticketBecomesFile(file: StoredFile, seq: number): TransactWriteUpdate {
  const more = `, work_due_at = ticket_ends_at
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
    ...fileAt(file),
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

function ticketAttributes(ticket: PendingTicket): Item {
  return {
    state: 'pending',
    lane: STORED_VIA.ticket,
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
  /** Present when the condition on the account failed. */
  readonly refusal?: Refusal;
}

/**
 * Charges an account within its limits. When the account has changed since it was read (its own limit, or another day has
 * begun), the failed attempt brings the new row, and the next attempt goes by it.
 * @returns undefined when all items were written.
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
    const failed = await transactOnBooks(items(update), deadline);
    if (failed === undefined) return undefined;
    const row = failed.get('account');
    if (!row) return { failed };
    const account = toAccount(row);
    const refusal = refusalOf(account, limits, { bytes: entry.bytes, now });
    if (refusal) return { failed, refusal };
    known = account;
  }
}
