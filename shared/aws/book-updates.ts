import type { TransactWriteUpdate } from '@aws-sdk/lib-dynamodb';
import { storageLimitOf } from '../accounts/account.ts';
import { type Allowance, dayOf, uploadBytesPerDayOf } from '../accounts/allowance.ts';
import { bitOf, groupOf, leafOf } from '../files/listing-counters.ts';
import { ACCOUNT_IS_OPEN, accountAt } from './account-store.ts';
import type { Item } from './dynamodb.ts';
import { fileAt, leafId, workShard } from './file-items.ts';

/**
 * The parts of a transaction that change the books of an account. The usage, the counts and the listing counters change together or not at
 * all.
 */

export interface BookEntry {
  readonly accountId: string;
  /** The number of bytes to add to the usage; may be negative or zero. */
  readonly bytes: number;
  /** Present when a file is added to the listing: its place. */
  readonly adds?: Place;
  /** Present when a file is removed from the listing: its seq. */
  readonly removes?: number;
  /** Present when a file or a ticket is added: the account must have fewer files than this. */
  readonly fileCountLimit?: number;
  /** Present when the bytes count as sent on a day: then they must fit into the limits of the account. */
  readonly charge?: Charge;
}

/**
 * The place of a new file, by the account as it was read. A transaction with this place fails if the account's next seq has changed since.
 */
export interface Place {
  readonly seq: number;
  readonly createdAt: number;
}

interface Charge extends Allowance {
  /** Epoch milliseconds; the bytes count for the day of this moment. */
  readonly now: number;
}

/** One part of an update: the attributes that it sets, its condition, or both. */
interface Clause {
  readonly set?: string;
  readonly when?: string;
  readonly names?: Record<string, string>;
  readonly values?: Item;
}

/**
 * The update of the account's row. Each update raises `books_revision`, by which an audit notices that the books have changed while it read
 * them. The counts alone would not show every change: one file may have been added, and another deleted.
 *
 * The condition fails in these cases:
 * - the account is gone;
 * - a limit would be exceeded;
 * - the place of the next file or the account's own storage limit has changed since the caller read it;
 * - the first bytes of the day were sent since the caller read the account;
 * - the entry has a `fileCountLimit`, and the account is suspended or being deleted.
 */
export function accountUpdate({
  accountId,
  bytes,
  adds,
  removes,
  fileCountLimit,
  charge,
}: BookEntry): TransactWriteUpdate {
  const clauses: Clause[] = [
    {
      set: 'books_revision = if_not_exists(books_revision, :zero) + :one',
      values: { ':zero': 0, ':one': 1 },
    },
    { set: 'storage_used_bytes = storage_used_bytes + :bytes', values: { ':bytes': bytes } },
    fileCountLimit === undefined ? { when: 'attribute_exists(id)' } : withinFileCount(fileCountLimit),
    ...(adds ? [fileAdded(adds)] : []),
    ...(removes === undefined ? [] : [fileRemoved(removes)]),
    ...(charge ? [withinStorage(bytes, charge), withinDay(bytes, charge)] : []),
  ];
  const names = Object.assign({}, ...clauses.map((clause) => clause.names));
  return {
    ...accountAt(accountId),
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

/** The condition makes sure that each seq is given to exactly one file, and that `created_at` never decreases along the seqs. */
function fileAdded({ seq, createdAt }: Place): Clause {
  return {
    set: 'file_count = file_count + :one, next_seq = next_seq + :one, last_file_at = :createdAt',
    when: 'next_seq = :seq',
    values: { ':seq': seq, ':createdAt': createdAt },
  };
}

function fileRemoved(seq: number): Clause {
  return {
    set: 'file_count = file_count - :one, removed.#group = if_not_exists(removed.#group, :zero) + :one',
    names: { '#group': String(groupOf(seq)) },
  };
}

// A condition cannot add numbers. So the two clauses below compare the bytes that are used with the limit minus the new bytes.

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

/** Adds the bytes to the bytes of the day, or begins a new day with them. */
function withinDay(bytes: number, { limits, known, now }: Charge): Clause {
  const today = { ':today': dayOf(now) };
  const room = uploadBytesPerDayOf(known, limits) - bytes;
  // An upload that is larger than the limit of a day must not begin a new day. Such an upload gets the second clause below, whose condition
  // then always fails.
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

/** How long the name of a deleted file may stay in the seal of its leaf. So one new seal covers all deletions of a day. */
const SEAL_WAITS_MS = 24 * 3_600_000;

/**
 * The update of the leaf of a deleted file. It adds the bit of the file to the bitmap of the deleted files. It has no condition of its own:
 * the condition on the row of the file, in the same transaction, makes sure that the bit is added only once. A second addition would carry
 * into the next bit. The update also makes the leaf due for the sweeper, which removes the name of the file from the seal.
 * @param now  epoch milliseconds.
 */
export function leafUpdate(accountId: string, seq: number, now: number): TransactWriteUpdate {
  const leaf = { accountId, id: leafId(leafOf(seq)) };
  return {
    ...fileAt(leaf),
    UpdateExpression: 'ADD removed :bit SET work_shard = :shard, work_due_at = if_not_exists(work_due_at, :due)',
    ExpressionAttributeValues: { ':bit': bitOf(seq), ':shard': workShard(accountId), ':due': now + SEAL_WAITS_MS },
  };
}

/** Makes the sweeper write the seal of a leaf in its next run, unless the leaf is due already. This is for a leaf whose seal cannot be read. */
export function sealSoon(accountId: string, leaf: number, now: number): TransactWriteUpdate {
  return {
    ...sealNow(accountId, leaf, now),
    UpdateExpression: 'SET work_shard = :shard, work_due_at = if_not_exists(work_due_at, :now)',
  };
}

/** Makes the sweeper write the seal of a leaf in its next run. This is for a leaf that has become full, or whose seal is wrong. */
export function sealNow(accountId: string, leaf: number, now: number): TransactWriteUpdate {
  const ref = { accountId, id: leafId(leaf) };
  return {
    ...fileAt(ref),
    UpdateExpression: 'SET work_shard = :shard, work_due_at = :now',
    ExpressionAttributeValues: { ':shard': workShard(accountId), ':now': now },
  };
}
