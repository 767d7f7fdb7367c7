import type { Update } from '@aws-sdk/client-dynamodb';
import { required } from '../env.ts';
import { groupOf, leafOf } from '../files/listing-counters.ts';
import { ACCOUNT_IS_OPEN } from './account-conditions.ts';
import { number, text } from './attributes.ts';
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
  /** Present: only if usage stays within. */
  readonly limit?: { readonly bytes: number; readonly isOwn: boolean };
}

/**
 * The account's row. Each of these raises `books_revision`, by which an audit knows whether anything has changed
 * while it read: counts alone do not tell, since as much may have come as went. Its condition fails when the account is gone, its own limit was changed, or there is no room; and of
 * what adds to it when it is suspended, so that nothing joins an account that was suspended meanwhile.
 */
export function accountUpdate({ accountId, bytes, listing, limit }: BookEntry): Update {
  const adds = limit !== undefined || listing?.files === 1;
  const limitIsKnown = limit?.isOwn ? 'storage_limit_bytes = :limit' : 'attribute_not_exists(storage_limit_bytes)';
  return {
    TableName: accountsTable,
    Key: { id: text(accountId) },
    UpdateExpression: `SET books_revision = if_not_exists(books_revision, :zero) + :one, storage_used_bytes = storage_used_bytes + :bytes${
      listing
        ? ', file_count = file_count + :files, #groups.#group = if_not_exists(#groups.#group, :zero) + :files'
        : ''
    }`,
    ConditionExpression: `${adds ? ACCOUNT_IS_OPEN : 'attribute_exists(id)'}${limit ? ` AND ${limitIsKnown} AND storage_used_bytes <= :room` : ''}`,
    ...(listing && { ExpressionAttributeNames: { '#groups': 'groups', '#group': String(groupOf(listing.seq)) } }),
    ExpressionAttributeValues: {
      ':bytes': number(bytes),
      ':zero': number(0),
      ':one': number(1),
      ...(listing && { ':files': number(listing.files) }),
      // Expressions cannot add, so what may be used before is computed here.
      ...(limit && { ':room': number(limit.bytes - bytes), ...(limit.isOwn && { ':limit': number(limit.bytes) }) }),
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

/** The counter of the leaf in which a file is. */
export function leafUpdate(accountId: string, { files, seq }: { files: 1 | -1; seq: number }): Update {
  return {
    TableName: filesTable,
    Key: fileKey({ accountId, id: leafId(leafOf(seq)) }),
    UpdateExpression: 'ADD n :files',
    ExpressionAttributeValues: { ':files': number(files) },
  };
}
