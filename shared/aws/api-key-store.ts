import {
  type AttributeValue,
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  GetItemCommand,
  QueryCommand,
  TransactionConflictException,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { StoredApiKey } from '../api-keys/api-key.ts';
import type { ApiKeyStore } from '../api-keys/api-key-store.ts';
import { required } from '../env.ts';
import { ApiError } from '../errors.ts';
import { dynamoDb } from './dynamodb.ts';
import { cancellationReasons, transact } from './transactions.ts';

type Item = Record<string, AttributeValue>;

const tableName = required('API_KEYS_TABLE');
const accountsTableName = required('ACCOUNTS_TABLE');

/**
 * {@link ApiKeyStore} in DynamoDB. A key is two rows, written and deleted together with the account's `key_count`:
 * - `hash#<sha256>` / `key` is the key: it authenticates, and a noted use changes it alone;
 * - `account#<account>` / `<id>` leads to it by `key_hash`, for the list and the revocation.
 */
export const apiKeyStore: ApiKeyStore = {
  async add(key, { limit, deadlineAt }) {
    try {
      await transact(
        [
          { Put: { TableName: tableName, Item: hashRow(key), ConditionExpression: 'attribute_not_exists(pk)' } },
          { Put: { TableName: tableName, Item: accountRow(key), ConditionExpression: 'attribute_not_exists(pk)' } },
          {
            Update: {
              TableName: accountsTableName,
              Key: { id: { S: key.accountId } },
              UpdateExpression: 'ADD key_count :one',
              // The row is there from the first login on: a key for an account without one would never be counted right.
              ConditionExpression: 'attribute_exists(id) AND (attribute_not_exists(key_count) OR key_count < :limit)',
              ExpressionAttributeValues: { ':one': { N: '1' }, ':limit': { N: String(limit) } },
              ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
            },
          },
        ],
        { deadlineAt },
      );
      return 'added';
    } catch (error) {
      if (cancellationReasons(error)[2]?.Item) return 'limit reached';
      throw error;
    }
  },

  async list(accountId) {
    // At most 100 keys an account: one page, and one batch.
    const { Items = [] } = await dynamoDb.send(
      new QueryCommand({
        TableName: tableName,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :account',
        ExpressionAttributeValues: { ':account': { S: accountPartition(accountId) } },
        ScanIndexForward: false,
      }),
    );
    const byHash = await hashRows(Items.map((item) => text(item, 'key_hash')));
    // A key without its first row was revoked between the two reads.
    return Items.flatMap((item) => byHash.get(text(item, 'key_hash')) ?? []);
  },

  async find(keyHash) {
    const { Item } = await dynamoDb.send(
      new GetItemCommand({ TableName: tableName, Key: hashKeyOf(keyHash), ConsistentRead: true }),
    );
    return Item && toStoredKey(Item);
  },

  async noteUse(keyHash, usedAt, unlessSince) {
    try {
      await dynamoDb.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: hashKeyOf(keyHash),
          UpdateExpression: 'SET last_used_at = :used',
          // Without the first half a late note would bring a revoked key's row back, in part.
          ConditionExpression:
            'attribute_exists(pk) AND (attribute_not_exists(last_used_at) OR last_used_at <= :since)',
          ExpressionAttributeValues: { ':used': { N: String(usedAt) }, ':since': { N: String(unlessSince) } },
        }),
      );
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException || error instanceof TransactionConflictException) return;
      throw error;
    }
  },

  async remove(accountId, id, { deadlineAt }) {
    const accountKey = accountKeyOf(accountId, id);
    const { Item } = await dynamoDb.send(
      new GetItemCommand({ TableName: tableName, Key: accountKey, ConsistentRead: true }),
    );
    if (!Item) return false;
    const exists = 'attribute_exists(pk)';
    try {
      await transact(
        [
          { Delete: { TableName: tableName, Key: hashKeyOf(text(Item, 'key_hash')), ConditionExpression: exists } },
          { Delete: { TableName: tableName, Key: accountKey, ConditionExpression: exists } },
          {
            // No condition here: a wrong count must not keep anybody from revoking a key.
            Update: {
              TableName: accountsTableName,
              Key: { id: { S: accountId } },
              UpdateExpression: 'ADD key_count :minusOne',
              ExpressionAttributeValues: { ':minusOne': { N: '-1' } },
            },
          },
        ],
        { deadlineAt },
      );
      return true;
    } catch (error) {
      // Of two revocations at once one finds the rows gone; so does the second try of one whose answer was lost.
      if (cancellationReasons(error).some(({ Code }) => Code === 'ConditionalCheckFailed')) return false;
      throw error;
    }
  },
};

/** The first rows of keys by hash; without those that are gone. */
async function hashRows(hashes: readonly string[]): Promise<Map<string, StoredApiKey>> {
  const found = new Map<string, StoredApiKey>();
  if (hashes.length === 0) return found;
  const { Responses, UnprocessedKeys } = await dynamoDb.send(
    new BatchGetItemCommand({ RequestItems: { [tableName]: { Keys: hashes.map(hashKeyOf), ConsistentRead: true } } }),
  );
  for (const item of Responses?.[tableName] ?? []) found.set(hashOf(item), toStoredKey(item));
  // 100 rows are far below a batch's 16 MB, so what is unprocessed was throttled.
  if (Object.keys(UnprocessedKeys ?? {}).length > 0) {
    throw new ApiError('service_unavailable', { headers: { 'Retry-After': '1' }, detail: 'batch read throttled' });
  }
  return found;
}

type NewKey = Parameters<ApiKeyStore['add']>[0];

function hashRow({ keyHash, accountId, id, name, keyPrefix, createdAt }: NewKey): Item {
  return {
    ...hashKeyOf(keyHash),
    account_id: { S: accountId },
    id: { S: id },
    name: { S: name },
    key_prefix: { S: keyPrefix },
    created_at: { N: String(createdAt) },
  };
}

function accountRow({ keyHash, accountId, id }: NewKey): Item {
  return { ...accountKeyOf(accountId, id), key_hash: { S: keyHash } };
}

function toStoredKey(item: Item): StoredApiKey {
  return {
    id: text(item, 'id'),
    accountId: text(item, 'account_id'),
    name: text(item, 'name'),
    keyPrefix: text(item, 'key_prefix'),
    createdAt: Number(item.created_at?.N),
    ...(item.last_used_at?.N !== undefined && { lastUsedAt: Number(item.last_used_at.N) }),
  };
}

const hashPartition = (hash: string) => `hash#${hash}`;
const hashKeyOf = (hash: string) => ({ pk: { S: hashPartition(hash) }, sk: { S: 'key' } });
const hashOf = (item: Item) => text(item, 'pk').slice(hashPartition('').length);
const accountPartition = (accountId: string) => `account#${accountId}`;
const accountKeyOf = (accountId: string, id: string) => ({ pk: { S: accountPartition(accountId) }, sk: { S: id } });
const text = (item: Item, name: string) => item[name]?.S ?? '';
