import type { TransactWritePut, TransactWriteUpdate } from '@aws-sdk/lib-dynamodb';
import { type Account, getAccount } from '../accounts/account.ts';
import { refusalOf } from '../accounts/allowance.ts';
import type { PendingTicket, ReadyFile, StoredFile } from '../files/file.ts';
import { isLastOfLeaf, leafOf } from '../files/listing-counters.ts';
import type { ListingEnd, Settled, SettlementStore, UnsettledFile } from '../files/stores.ts';
import { type Deadline, WRITE_PATIENCE_MS } from '../time-limit.ts';
import { accountAt, accountStore, toAccount } from './account-store.ts';
import { accountUpdate, type Place, sealNow } from './book-updates.ts';
import type { Item } from './dynamodb.ts';
import { claimAttributes, fileAt, fileAttributes, toFileRow, workAttributes } from './file-items.ts';
import { claimForFile, claimForTicket } from './idempotency-store.ts';
import {
  type FailedItems,
  failedConditions,
  type NamedItems,
  transact,
  transactOnBooks,
  tryOnBooks,
} from './transactions.ts';
import { busyMs, noteConflict, waitForTurn } from './turns.ts';

/** {@link SettlementStore} in DynamoDB. Each method is one `TransactWriteItems`, and one of its items is the account. */
export const settlementStore: SettlementStore = {
  async settleUpload({ file, now, allowance, claim }, deadline) {
    const { accountId, sizeBytes: bytes } = file;
    const { limits, known } = allowance;
    const { fileCountLimit } = limits;
    return joinListing(file, { known, now }, deadline, {
      items: (settled, place, account) => ({
        row: { Put: newFile(settled, place.seq) },
        account: {
          Update: accountUpdate({
            accountId,
            bytes,
            joins: place,
            fileCountLimit,
            charge: { limits, known: account, now: place.createdAt },
          }),
        },
        ...(claim && { record: { Put: claimForFile(claim, settled) } }),
      }),
      giveUp: () => settlementStore.giveUp(file),
      outcomeOf(failed, { createdAt }) {
        const row = failed.get('row');
        const found = row && toFileRow(row);
        if (found?.state === 'ready') return toSettled(found);
        if (row) throw new Error(`the file ${file.id} was made and deleted while it was settled`);
        const account = failed.get('account');
        const refusal = account && refusalOf(toAccount(account), limits, { bytes, now: createdAt });
        return refusal ?? (failed.has('record') ? 'key taken' : undefined);
      },
    });
  },

  async giveUp(file) {
    const account: TransactWriteUpdate = {
      ...accountAt(file.accountId),
      UpdateExpression: 'ADD fence :one',
      ConditionExpression: 'attribute_exists(id)',
      ExpressionAttributeValues: { ':one': 1 },
    };
    // This write has its own deadline, because the upload is given up even when the deadline of its request has passed.
    const deadline = { deadlineAt: Date.now() + WRITE_PATIENCE_MS };
    try {
      await transact([{ ConditionCheck: { ...fileAt(file), ...IS_ABSENT } }, { Update: account }], deadline);
      return undefined;
    } catch (error) {
      const [row, gone] = failedConditions(error);
      if (!row && !gone) throw error;
      const found = row && toFileRow(row);
      return found?.state === 'ready' ? toSettled(found).file : undefined;
    }
  },

  async settleTicket({ ticket, file, known, now, fileCountLimit }, deadline) {
    const { accountId } = file;
    const claim = ticket.idempotency;
    // The first attempt assumes that the key still belongs to the ticket, which is nearly always so.
    let isKeyOurs = true;
    return joinListing(file, { known, now }, deadline, {
      items: (settled, place) => ({
        row: { Update: ticketBecomesFile(settled, place.seq) },
        account: { Update: accountUpdate({ accountId, bytes: 0, joins: place, fileCountLimit }) },
        ...(claim && isKeyOurs && { record: { Put: claimForFile(claim, settled) } }),
      }),
      outcomeOf(failed) {
        if (failed.has('row')) return 'not pending';
        const account = failed.get('account');
        if (account && toAccount(account).fileCount >= fileCountLimit) return 'no room';
        // The key's 24 hours are over and it belongs to something else now, so the file is settled without it.
        isKeyOurs &&= !failed.has('record');
        return undefined;
      },
    });
  },

  async reserve({ ticket, allowance, now, claim }, deadline) {
    const { accountId, sizeBytes: bytes } = ticket;
    const { limits } = allowance;
    const { TableName, Key } = fileAt(ticket);
    for (let { known } = allowance; ; ) {
      const charge = { limits, known, now };
      const failed = await transactOnBooks(
        {
          // It needs no condition, because the id is new.
          row: { Put: { TableName, Item: { ...Key, ...ticketAttributes(ticket) } } },
          account: { Update: accountUpdate({ accountId, bytes, fileCountLimit: limits.fileCountLimit, charge }) },
          ...(claim && { record: { Put: claimForTicket(claim, ticket, claim.replacesTicket) } }),
        },
        deadline,
      );
      if (failed === undefined) return 'reserved';
      const row = failed.get('account');
      if (!row) return 'key taken';
      // The account has changed since it was read (its own limit, or another day has begun): the next attempt uses the account
      // as the failed condition found it.
      const account = toAccount(row);
      const refusal = refusalOf(account, limits, { bytes, now });
      if (refusal) return refusal;
      known = account;
    }
  },
};

/** The row of a file that came by a form. It must not be there yet: else an earlier attempt has made the file. */
function newFile(file: StoredFile, seq: number): TransactWritePut {
  const { TableName, Key } = fileAt(file);
  return {
    TableName,
    Item: { ...Key, ...fileAttributes(file), state: 'ready', via: 'form', seq },
    ...IS_ABSENT,
  };
}

const IS_ABSENT = {
  ConditionExpression: 'attribute_not_exists(id)',
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
} as const;

function toSettled({ state: _, via: _via, attemptKeys: _keys, seq, ...file }: ReadyFile): Settled {
  return { file, seq };
}

/**
 * Only the attempt that holds the lease can make this update. The row stays unfinished work until its ticket ends: then the
 * sweeper removes what arrived, and the copies of other attempts.
 */
function ticketBecomesFile(file: StoredFile, seq: number): TransactWriteUpdate {
  const attributes = { ...fileAttributes(file), state: 'ready', seq };
  const names = Object.keys(attributes);
  return {
    ...fileAt(file),
    UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}, work_due_at = ticket_ends_at
      REMOVE idempotency, attempt_key, attempt_until DELETE attempt_keys :attempt`,
    ConditionExpression: '#state = :pending AND attempt_key = :object_key',
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`:${name}`, value])),
      ':pending': 'pending',
      ':attempt': new Set([file.objectKey]),
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

function ticketAttributes(ticket: PendingTicket): Item {
  return {
    state: 'pending',
    via: 'ticket',
    name: ticket.name,
    mime_type: ticket.mimeType,
    size_bytes: ticket.sizeBytes,
    ...(ticket.checksumSha256 !== undefined && { checksum_sha256: ticket.checksumSha256 }),
    ...(ticket.idempotency && { idempotency: claimAttributes(ticket.idempotency) }),
    ticket_ends_at: ticket.ticketEndsAt,
    ...workAttributes(ticket, ticket.dueAt),
  };
}

/** How one kind of file joins the listing. */
interface Joining<Known, Outcome> {
  /** The items to write for the file at this place. `known` is the account as it was read. */
  items(file: StoredFile, place: Place, known: Known): NamedItems;
  /** What failed conditions mean; undefined when the account has changed, so that the next attempt may succeed. */
  outcomeOf(failed: FailedItems, place: Place): Outcome | undefined;
  /** See {@link SettlementStore.giveUp}. Absent for a ticket: ending its attempt has the same effect. */
  giveUp?(): Promise<StoredFile | undefined>;
}

/**
 * Gives a file the next place in its account's listing. The first attempt uses the account as it was read. It fails if another file
 * was settled meanwhile; each further attempt waits for a turn and reads the account again (decision 0024). While other uploads of the
 * account are under way, the first attempt does so as well (decision 0034).
 * The transaction of the last file of a leaf also makes the sweeper write the seal of the leaf.
 *
 * When it throws or returns no file, an attempt that is still under way may make the file later. With `giveUp`, that is
 * possible only after it has thrown.
 */
async function joinListing<Known extends ListingEnd, Outcome>(
  unsettled: UnsettledFile,
  { known, now }: { known: Known; now: number },
  deadline: Deadline,
  { items, outcomeOf, giveUp }: Joining<Known | Account, Outcome>,
): Promise<Settled | Outcome> {
  const { accountId } = unsettled;
  let mayArriveLate = false;
  let account: Known | Account = known;
  let turns = 0;
  let hasConflicted = false;
  const takeTurn = async (ms: number) => {
    hasConflicted = (await waitForTurn(accountId, { failures: turns++, ms }, deadline)) || hasConflicted;
    account = await getAccount(accountStore, accountId);
  };
  const firstTurnMs = busyMs(accountId);
  if (firstTurnMs !== undefined) await takeTurn(firstTurnMs);
  for (;;) {
    const { nextSeq: seq, lastFileAt, fence } = account;
    const place = { seq, createdAt: Math.max(now, lastFileAt), fence };
    const file = { ...unsettled, createdAt: place.createdAt };
    const fullLeaf = isLastOfLeaf(seq) && { leaf: { Update: sealNow(accountId, leafOf(seq), place.createdAt) } };
    const startedAt = performance.now();
    const notWritten = await tryOnBooks({ ...items(file, place, account), ...fullLeaf }, deadline);
    const ms = performance.now() - startedAt;
    if (!notWritten) {
      if (hasConflicted) noteConflict(accountId, ms);
      return { file, seq };
    }
    mayArriveLate ||= notWritten.mayArriveLate;
    const outcome = outcomeOf(notWritten.failed, place);
    if (outcome !== undefined) {
      const file = mayArriveLate && (await giveUp?.());
      return file ? { file, seq } : outcome;
    }
    hasConflicted = true;
    await takeTurn(ms);
  }
}
