import type { TransactWriteUpdate } from '@aws-sdk/lib-dynamodb';
import { storageLimitOf } from '../accounts/account.ts';
import { type Allowance, dayOf, uploadBytesPerDayOf } from '../accounts/allowance.ts';
import { required } from '../env.ts';
import { groupOf, leafOf } from '../files/listing-counters.ts';
import { ACCOUNT_IS_OPEN } from './account-conditions.ts';
import type { Item } from './dynamodb.ts';
import { fileKey, leafId } from './file-items.ts';

/** The parts of a transaction that keep an account's books: usage, counts and listing counters move together or not. */

const accountsTable = required('ACCOUNTS_TABLE');
const filesTable = required('FILES_TABLE');

export interface BookEntry {
  readonly accountId: string;
  /** Added to the usage; may be negative or zero. */
  readonly bytes: number;
  /** A file that joins the listing (1) or leaves it (-1), at this seq. */
  readonly listing?: { readonly files: 1 | -1; readonly seq: number };
  /** Present with what is, or may become, a further file: only while the account has fewer files than this. */
  readonly fileCountLimit?: number;
  /** Present with bytes that were sent: only while they fit, and counted for the day. */
  readonly charge?: Charge;
}

/** @param now  epoch milliseconds, which tell the day that the bytes are counted for. */
export interface Charge extends Allowance {
  readonly now: number;
}

/** One part of an update: what it sets, and what has to hold. */
interface Clause {
  readonly set?: string;
  readonly when?: string;
  readonly names?: Record<string, string>;
  readonly values?: Item;
}

/**
 * The account's row. Each of these raises `books_revision`, by which an audit knows whether anything has changed while it
 * read: counts alone do not tell, since as much may have come as went.
 *
 * The condition fails when the account is gone, or a limit would be passed, or what is known of the account is out of date;
 * and for a further file when it is suspended, so that none joins an account that was suspended meanwhile.
 */
export function accountUpdate({ accountId, bytes, listing, fileCountLimit, charge }: BookEntry): TransactWriteUpdate {
  const clauses: Clause[] = [
    {
      set: 'books_revision = if_not_exists(books_revision, :zero) + :one',
      values: { ':zero': 0, ':one': 1 },
    },
    { set: 'storage_used_bytes = storage_used_bytes + :bytes', values: { ':bytes': bytes } },
    fileCountLimit === undefined ? { when: 'attribute_exists(id)' } : withinFileCount(fileCountLimit),
    ...(listing ? [counted(listing)] : []),
    ...(charge ? [withinStorage(bytes, charge), withinDay(bytes, charge)] : []),
  ];
  const names = Object.assign({}, ...clauses.map((clause) => clause.names));
  return {
    TableName: accountsTable,
    Key: { id: accountId },
    UpdateExpression: `SET ${clauses.flatMap(({ set }) => set ?? []).join(', ')}`,
    ConditionExpression: clauses.flatMap(({ when }) => when ?? []).join(' AND '),
    ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
    ExpressionAttributeValues: Object.assign({}, ...clauses.map(({ values }) => values)),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

function withinFileCount(limit: number): Clause {
  return { when: `${ACCOUNT_IS_OPEN} AND file_count < :maxFiles`, values: { ':maxFiles': limit } };
}

function counted({ files, seq }: { files: 1 | -1; seq: number }): Clause {
  return {
    set: 'file_count = file_count + :files, #groups.#group = if_not_exists(#groups.#group, :zero) + :files',
    names: { '#groups': 'groups', '#group': String(groupOf(seq)) },
    values: { ':files': files, ':zero': 0 },
  };
}

// Expressions cannot add, so how much may be there before is computed in the two clauses below.

function withinStorage(bytes: number, { limits, known }: Charge): Clause {
  const own = known.storageLimitBytes;
  const room = storageLimitOf(known, limits.storageLimitBytes) - bytes;
  return own === undefined
    ? { when: 'attribute_not_exists(storage_limit_bytes) AND storage_used_bytes <= :room', values: { ':room': room } }
    : {
        when: 'storage_limit_bytes = :own AND storage_used_bytes <= :room',
        values: { ':own': own, ':room': room },
      };
}

/** Adds to the day's bytes, or begins the day with them. */
function withinDay(bytes: number, { limits, known, now }: Charge): Clause {
  const today = { ':today': dayOf(now) };
  const room = uploadBytesPerDayOf(known, limits) - bytes;
  // No day begins with more than a whole day's bytes: then the other condition is the one that fails.
  const begins = (known.sent === undefined || known.sent.day < dayOf(now)) && room >= 0;
  return begins
    ? {
        set: 'sent_day = :today, sent_bytes = :bytes',
        when: '(attribute_not_exists(sent_day) OR sent_day < :today)',
        values: today,
      }
    : {
        set: 'sent_bytes = sent_bytes + :bytes',
        when: 'sent_day >= :today AND sent_bytes <= :roomToday',
        values: { ...today, ':roomToday': room },
      };
}

/** The counter of the leaf in which a file is. */
export function leafUpdate(accountId: string, { files, seq }: { files: 1 | -1; seq: number }): TransactWriteUpdate {
  return {
    TableName: filesTable,
    Key: fileKey({ accountId, id: leafId(leafOf(seq)) }),
    UpdateExpression: 'ADD n :files',
    ExpressionAttributeValues: { ':files': files },
  };
}
