import type { TransactWritePut, TransactWriteUpdate } from '@aws-sdk/lib-dynamodb';
import { type Account, getAccount } from '../accounts/account.ts';
import { refusalOf } from '../accounts/allowance.ts';
import type { ReadyFile, StoredFile, Via } from '../files/file.ts';
import { isLastOfLeaf, leafOf } from '../files/listing-counters.ts';
import type { ListingEnd, Settled, SettlementStore, UnsettledFile } from '../files/stores.ts';
import { type Deadline, WRITE_PATIENCE_MS } from '../time-limit.ts';
import { accountAt, accountStore, toAccount } from './account-store.ts';
import { accountUpdate, type Place, sealNow } from './book-updates.ts';
import { fileAt, fileAttributes, toFileRow } from './file-items.ts';
import { claimForFile, claimForTicket } from './idempotency-store.ts';
import { newTicket, ticketSettles } from './ticket-store.ts';
import {
  type FailedItems,
  failedConditions,
  type NamedItems,
  transact,
  transactOnBooks,
  tryOnBooks,
} from './transactions.ts';
import { busyMs, noteConflict, waitForTurn } from './turns.ts';

/** {@link SettlementStore} in DynamoDB. Each attempt of a method is one `TransactWriteItems`, and one of its items is the account. */
export const settlementStore: SettlementStore = {
  async settleUpload({ file, now, allowance, claim }, deadline) {
    const { accountId, sizeBytes: bytes } = file;
    const { limits, known } = allowance;
    const { fileCountLimit } = limits;
    return joinListing(file, { known, now }, deadline, {
      items: (settled, place, account) => ({
        row: { Put: newFile(settled, 'form', place.seq) },
        account: {
          Update: accountUpdate({
            accountId,
            bytes,
            adds: place,
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
    // The first attempt assumes that the `Idempotency-Key` still stands for the ticket, which is nearly always true.
    let isKeyOurs = true;
    return joinListing(file, { known, now }, deadline, {
      items: (settled, place) => ({
        ticket: { Update: ticketSettles(ticket, file.objectKey) },
        row: { Put: newFile(settled, 'ticket', place.seq) },
        account: { Update: accountUpdate({ accountId, bytes: 0, adds: place, fileCountLimit }) },
        ...(claim && isKeyOurs && { record: { Put: claimForFile(claim, settled) } }),
      }),
      outcomeOf(failed) {
        if (failed.has('ticket')) return 'not pending';
        const account = failed.get('account');
        if (account && toAccount(account).fileCount >= fileCountLimit) return 'no room';
        // If the condition of the record failed, the 24 hours of the key are over, and another request has taken the key. Then the next
        // attempt settles the file without a record.
        isKeyOurs &&= !failed.has('record');
        return undefined;
      },
    });
  },

  async reserve({ ticket, allowance, now, claim }, deadline) {
    const { accountId, sizeBytes: bytes } = ticket;
    const { limits } = allowance;
    for (let { known } = allowance; ; ) {
      const charge = { limits, known, now };
      const failed = await transactOnBooks(
        {
          ticket: { Put: newTicket(ticket) },
          account: { Update: accountUpdate({ accountId, bytes, fileCountLimit: limits.fileCountLimit, charge }) },
          ...(claim && { record: { Put: claimForTicket(claim, ticket, claim.replacesTicket) } }),
        },
        deadline,
      );
      if (failed === undefined) return 'reserved';
      const row = failed.get('account');
      if (!row) return 'key taken';
      // Since the account was read, its own limit has changed, or the first bytes of a day were sent. The next attempt uses the account as
      // the failed condition found it.
      const account = toAccount(row);
      const refusal = refusalOf(account, limits, { bytes, now });
      if (refusal) return refusal;
      known = account;
    }
  },
};

/** The row of a file. The write fails if the row exists. Then an earlier attempt has made the file. */
function newFile(file: StoredFile, via: Via, seq: number): TransactWritePut {
  const { TableName, Key } = fileAt(file);
  return {
    TableName,
    Item: { ...Key, ...fileAttributes(file), state: 'ready', via, seq },
    ...IS_ABSENT,
  };
}

const IS_ABSENT = {
  ConditionExpression: 'attribute_not_exists(id)',
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
} as const;

function toSettled({ state: _, via: _via, seq, ...file }: ReadyFile): Settled {
  return { file, seq };
}

/** How a file of a form, or of a ticket, is added to the listing. */
interface Joining<Known, Outcome> {
  /** The items to write for the file at this place. `known` is the account as it was read. */
  items(file: StoredFile, place: Place, known: Known): NamedItems;
  /** What the failed conditions mean; undefined when the next attempt may succeed. */
  outcomeOf(failed: FailedItems, place: Place): Outcome | undefined;
  /** See {@link SettlementStore.giveUp}. Tickets do not need this, because `TicketStore.endAttempt` has the same effect. */
  giveUp?(): Promise<StoredFile | undefined>;
}

/**
 * Gives a file the next place in its account's listing. The first attempt uses the account as it was read. The attempt fails if another
 * file was settled meanwhile. Each further attempt waits for a turn and reads the account again (decision 0024). For two seconds after a
 * conflict that this process has seen, the first attempt also waits for a turn (decision 0034). The transaction of the last file of a leaf
 * also makes the sweeper write the seal of the leaf.
 *
 * If the answer to a transaction was lost, the transaction may still reach DynamoDB later, and make the file. This can happen after the
 * function has thrown. Without a `giveUp`, it can also happen after the function has returned an outcome that is not a file.
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
