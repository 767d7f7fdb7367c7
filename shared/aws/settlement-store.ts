import type { TransactWritePut } from '@aws-sdk/lib-dynamodb';
import { type Account, getAccount } from '../accounts/account.ts';
import { type Allowance, refusalOf } from '../accounts/allowance.ts';
import type { ReadyFile, StoredFile, Via } from '../files/file.ts';
import { isLastOfLeaf, leafOf } from '../files/listing-counters.ts';
import type { ListingEnd, Settled, SettlementStore, UnsettledFile } from '../files/stores.ts';
import type { Deadline } from '../time-limit.ts';
import { accountStore, toAccount } from './account-store.ts';
import { accountUpdate, type Place, sealNow } from './book-updates.ts';
import { fileAt, fileAttributes, toFileRow } from './file-items.ts';
import { claimForFile, claimForTicket } from './idempotency-store.ts';
import { newTicket, ticketSettles } from './ticket-store.ts';
import { type FailedItems, type NamedItems, transactByAccount } from './transactions.ts';

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
    const items = (known: Allowance['known']): NamedItems => ({
      ticket: { Put: newTicket(ticket) },
      account: {
        Update: accountUpdate({
          accountId,
          bytes,
          fileCountLimit: limits.fileCountLimit,
          charge: { limits, known, now },
        }),
      },
      ...(claim && { record: { Put: claimForTicket(claim, ticket, claim.replacesTicket) } }),
    });
    const outcome = await transactByAccount(
      {
        items: items(allowance.known),
        outcomeOf(failed) {
          // An earlier attempt, whose answer was lost, has written the ticket.
          if (failed.has('ticket')) return 'reserved';
          const account = failed.get('account');
          const refusal = account && refusalOf(toAccount(account), limits, { bytes, now });
          // Without a refusal, the account's own limit has changed since it was read, or the first bytes of a day were sent.
          return refusal ?? (failed.has('record') ? 'key taken' : undefined);
        },
        rebuild: async () => items(await getAccount(accountStore, accountId)),
      },
      deadline,
    );
    return outcome ?? 'reserved';
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
}

/**
 * Gives a file the next place in its account's listing. The first attempt uses the account as it was read. The attempt fails if another
 * file was settled meanwhile. Each further attempt reads the account again (decision 0024). The transaction of the last file of a leaf also
 * makes the sweeper write the seal of the leaf.
 */
async function joinListing<Known extends ListingEnd, Outcome>(
  unsettled: UnsettledFile,
  { known, now }: { known: Known; now: number },
  deadline: Deadline,
  { items, outcomeOf }: Joining<Known | Account, Outcome>,
): Promise<Settled | Outcome> {
  const { accountId } = unsettled;
  const attemptWith = (account: Known | Account) => {
    const { nextSeq: seq, lastFileAt } = account;
    const place = { seq, createdAt: Math.max(now, lastFileAt) };
    const file = { ...unsettled, createdAt: place.createdAt };
    const fullLeaf = isLastOfLeaf(seq) && { leaf: { Update: sealNow(accountId, leafOf(seq), place.createdAt) } };
    return { place, file, items: { ...items(file, place, account), ...fullLeaf } };
  };
  let latest = attemptWith(known);
  const outcome = await transactByAccount(
    {
      items: latest.items,
      outcomeOf: (failed) => outcomeOf(failed, latest.place),
      async rebuild() {
        latest = attemptWith(await getAccount(accountStore, accountId));
        return latest.items;
      },
    },
    deadline,
  );
  return outcome ?? { file: latest.file, seq: latest.place.seq };
}
