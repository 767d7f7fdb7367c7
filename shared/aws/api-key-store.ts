import { TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { ApiKeyCredentials, ApiKeyStore, StoredApiKey } from '../api-keys/api-key.ts';
import { ACCOUNT_IS_OPEN, accountAt } from './account-store.ts';
import {
  dynamoDb,
  failedCondition,
  type Item,
  readNumber,
  readOptionalNumber,
  readText,
  tableName,
} from './dynamodb.ts';
import { readRows } from './read-rows.ts';
import { failedConditions, transact } from './transactions.ts';

/**
 * The API keys table has two rows for each key:
 * - `hash#<sha256>` / `key` is the key itself: requests are authenticated by this row, and uses are noted in it;
 * - `account#<account>` / `<id>` points to the key by `key_hash`, for the list and for the revocation.
 */
const HASH = 'hash#';

/** The key of the row that is an API key. */
export function keyAt(hash: string) {
  return { TableName: tableName('apiKeys'), Key: { pk: HASH + hash, sk: 'key' } };
}

/** The key of the row that points to an API key. */
function pointerAt(accountId: string, id: string) {
  return { TableName: tableName('apiKeys'), Key: { pk: partitionOf(accountId), sk: id } };
}

/** The query for all rows that point to the keys of an account, by strong reads. */
export function keysOf(accountId: string) {
  return {
    TableName: tableName('apiKeys'),
    ConsistentRead: true,
    KeyConditionExpression: 'pk = :account',
    ExpressionAttributeValues: { ':account': partitionOf(accountId) },
  };
}

const partitionOf = (accountId: string) => `account#${accountId}`;

/** {@link ApiKeyCredentials} in DynamoDB. */
export const apiKeyCredentials: ApiKeyCredentials = {
  async find(keyHash) {
    const { Item } = await dynamoDb.send(new GetCommand({ ...keyAt(keyHash), ConsistentRead: true }));
    return Item && toStoredKey(Item);
  },

  async noteUse(keyHash, usedAt, unlessSince) {
    const note = new UpdateCommand({
      ...keyAt(keyHash),
      UpdateExpression: 'SET last_used_at = :used',
      // Without the first half of the condition, a late note of a use would create a part of the row of a revoked key again.
      ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(last_used_at) OR last_used_at <= :since)',
      ExpressionAttributeValues: { ':used': usedAt, ':since': unlessSince },
    });
    try {
      await failedCondition(dynamoDb.send(note));
    } catch (error) {
      if (!(error instanceof TransactionConflictException)) throw error;
    }
  },
};

/** {@link ApiKeyStore} in DynamoDB. One transaction writes or removes both rows of a key, and changes the account's `key_count`. */
export const apiKeyStore: ApiKeyStore = {
  async add(key, { limit, deadlineAt }) {
    const isNew = { TableName: tableName('apiKeys'), ConditionExpression: 'attribute_not_exists(pk)' };
    const count = {
      ...accountAt(key.accountId),
      UpdateExpression: 'ADD key_count :one',
      // Without the first half of the condition, this update would create a row for an account that is gone.
      ConditionExpression: `${ACCOUNT_IS_OPEN} AND (attribute_not_exists(key_count) OR key_count < :limit)`,
      ExpressionAttributeValues: { ':one': 1, ':limit': limit },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    } as const;
    const rows = [keyRow(key), pointerRow(key)].map((Item) => ({ Put: { Item, ...isNew } }));
    try {
      await transact([...rows, { Update: count }], { deadlineAt });
      return 'added';
    } catch (error) {
      const account = failedConditions(error).at(-1);
      if (!account?.id) throw error;
      return account.suspended ? 'suspended' : 'limit reached';
    }
  },

  async list(accountId) {
    // An account has at most 100 keys, so one page of a query and one batch hold all of them.
    const { Items = [] } = await dynamoDb.send(new QueryCommand({ ...keysOf(accountId), ScanIndexForward: false }));
    const hashes = Items.map((pointer) => readText(pointer, 'key_hash'));
    const byHash = await findAll(hashes);
    // A key that is not found was revoked between the two reads.
    return hashes.flatMap((hash) => byHash.get(hash) ?? []);
  },

  async remove(accountId, id, { deadlineAt }) {
    const pointer = pointerAt(accountId, id);
    const { Item } = await dynamoDb.send(new GetCommand({ ...pointer, ConsistentRead: true }));
    if (!Item) return false;
    const rows = [keyAt(readText(Item, 'key_hash')), pointer].map((row) => ({
      Delete: { ...row, ConditionExpression: 'attribute_exists(pk)' },
    }));
    // This update has no condition, because a wrong count must not prevent the revocation of a key.
    const count = {
      ...accountAt(accountId),
      UpdateExpression: 'ADD key_count :minusOne',
      ExpressionAttributeValues: { ':minusOne': -1 },
    };
    try {
      await transact([...rows, { Update: count }], { deadlineAt });
      return true;
    } catch (error) {
      // Of two simultaneous revocations, one finds the rows gone.
      if (failedConditions(error).some((found) => found !== undefined)) return false;
      throw error;
    }
  },
};

async function findAll(hashes: readonly string[]): Promise<Map<string, StoredApiKey>> {
  const rows = await readRows(
    'apiKeys',
    hashes.map((hash) => keyAt(hash).Key),
  );
  return new Map(rows.map((row) => [readText(row, 'pk').slice(HASH.length), toStoredKey(row)]));
}

type NewKey = StoredApiKey & { readonly keyHash: string };

function keyRow({ keyHash, accountId, id, name, keyPrefix, createdAt }: NewKey): Item {
  const key = { account_id: accountId, id, name, key_prefix: keyPrefix, created_at: createdAt };
  return { ...keyAt(keyHash).Key, ...key };
}

function pointerRow({ keyHash, accountId, id }: NewKey): Item {
  return { ...pointerAt(accountId, id).Key, key_hash: keyHash };
}

function toStoredKey(row: Item): StoredApiKey {
  const lastUsedAt = readOptionalNumber(row, 'last_used_at');
  return {
    id: readText(row, 'id'),
    accountId: readText(row, 'account_id'),
    name: readText(row, 'name'),
    keyPrefix: readText(row, 'key_prefix'),
    createdAt: readNumber(row, 'created_at'),
    ...(lastUsedAt !== undefined && { lastUsedAt }),
    ...(row.suspended && { isSuspended: true }),
  };
}
