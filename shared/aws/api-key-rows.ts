import type { StoredApiKey } from '../api-keys/api-key.ts';
import { type Item, readNumber, readText } from './dynamodb.ts';

/**
 * The rows of the API keys table, two a key:
 * - `hash#<sha256>` / `key` is the key: it authenticates, and a noted use changes it alone;
 * - `account#<account>` / `<id>` leads to it by `key_hash`, for the list and the revocation.
 */
const HASH = 'hash#';

type NewKey = StoredApiKey & { readonly keyHash: string };

export const keyAt = (hash: string) => ({ pk: `${HASH}${hash}`, sk: 'key' });
export const leadAt = (accountId: string, id: string) => ({ pk: accountPartition(accountId), sk: id });
export const accountPartition = (accountId: string) => `account#${accountId}`;

export function keyRow({ keyHash, accountId, id, name, keyPrefix, createdAt }: NewKey): Item {
  return {
    ...keyAt(keyHash),
    account_id: accountId,
    id,
    name,
    key_prefix: keyPrefix,
    created_at: createdAt,
  };
}

export function leadRow({ keyHash, accountId, id }: NewKey): Item {
  return { ...leadAt(accountId, id), key_hash: keyHash };
}

/** The hash that the key of a `hash#` row has. */
export function hashOf(row: Item): string {
  return readText(row, 'pk').slice(HASH.length);
}

export function toStoredKey(row: Item): StoredApiKey {
  return {
    id: readText(row, 'id'),
    accountId: readText(row, 'account_id'),
    name: readText(row, 'name'),
    keyPrefix: readText(row, 'key_prefix'),
    createdAt: readNumber(row, 'created_at'),
    ...(row.last_used_at && { lastUsedAt: readNumber(row, 'last_used_at') }),
    ...(row.suspended && { isSuspended: true }),
  };
}
