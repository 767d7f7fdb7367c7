import { BatchGetCommand, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { ApiKeyStore, StoredApiKey } from '../api-keys/api-key.ts';
import { required } from '../env.ts';
import { serviceUnavailable } from '../errors.ts';
import { ACCOUNT_IS_OPEN } from './account-conditions.ts';
import { accountPartition, hashOf, keyAt, keyRow, leadAt, leadRow, toStoredKey } from './api-key-rows.ts';
import { dynamoDb, readText } from './dynamodb.ts';
import { failedConditions, transact } from './transactions.ts';

const tableName = required('API_KEYS_TABLE');
/** Read when needed, not at load: listing keys has no business with accounts, and has no such table. */
const accountsTableName = () => required('ACCOUNTS_TABLE');

/** {@link ApiKeyStore} in DynamoDB: a key's two rows come and go together with the account's `key_count`. */
export const apiKeyStore: ApiKeyStore = {
  async add(key, { limit, deadlineAt }) {
    const isNew = 'attribute_not_exists(pk)';
    try {
      await transact(
        [
          { Put: { TableName: tableName, Item: keyRow(key), ConditionExpression: isNew } },
          { Put: { TableName: tableName, Item: leadRow(key), ConditionExpression: isNew } },
          {
            Update: {
              TableName: accountsTableName(),
              Key: { id: key.accountId },
              UpdateExpression: 'ADD key_count :one',
              // The account is there from the first login on; without this half a key would make one.
              ConditionExpression: `${ACCOUNT_IS_OPEN} AND (attribute_not_exists(key_count) OR key_count < :limit)`,
              ExpressionAttributeValues: { ':one': 1, ':limit': limit },
              ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
            },
          },
        ],
        { deadlineAt },
      );
      return 'added';
    } catch (error) {
      const [, , account] = failedConditions(error);
      if (!account?.id) throw error;
      return account.suspended ? 'suspended' : 'limit reached';
    }
  },

  async list(accountId) {
    // At most 100 keys an account: one page, and one batch.
    const { Items = [] } = await dynamoDb.send(
      new QueryCommand({
        TableName: tableName,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :account',
        ExpressionAttributeValues: { ':account': accountPartition(accountId) },
        ScanIndexForward: false,
      }),
    );
    const hashes = Items.map((lead) => readText(lead, 'key_hash'));
    const byHash = await findAll(hashes);
    // A key that is not found was revoked between the two reads.
    return hashes.flatMap((hash) => byHash.get(hash) ?? []);
  },

  async remove(accountId, id, { deadlineAt }) {
    const lead = leadAt(accountId, id);
    const { Item } = await dynamoDb.send(new GetCommand({ TableName: tableName, Key: lead, ConsistentRead: true }));
    if (!Item) return false;
    const exists = 'attribute_exists(pk)';
    try {
      await transact(
        [
          { Delete: { TableName: tableName, Key: keyAt(readText(Item, 'key_hash')), ConditionExpression: exists } },
          { Delete: { TableName: tableName, Key: lead, ConditionExpression: exists } },
          {
            // No condition here: a wrong count must not keep anybody from revoking a key.
            Update: {
              TableName: accountsTableName(),
              Key: { id: accountId },
              UpdateExpression: 'ADD key_count :minusOne',
              ExpressionAttributeValues: { ':minusOne': -1 },
            },
          },
        ],
        { deadlineAt },
      );
      return true;
    } catch (error) {
      // Of two revocations at once one finds the rows gone.
      if (failedConditions(error).some((found) => found !== undefined)) return false;
      throw error;
    }
  },
};

async function findAll(hashes: readonly string[]): Promise<Map<string, StoredApiKey>> {
  if (hashes.length === 0) return new Map();
  const { Responses, UnprocessedKeys } = await dynamoDb.send(
    new BatchGetCommand({ RequestItems: { [tableName]: { Keys: hashes.map(keyAt), ConsistentRead: true } } }),
  );
  // 100 rows are far below a batch's 16 MB, so what is unprocessed was throttled.
  if (Object.keys(UnprocessedKeys ?? {}).length > 0)
    throw serviceUnavailable({ detail: 'part of a batch was throttled' });
  return new Map((Responses?.[tableName] ?? []).map((row) => [hashOf(row), toStoredKey(row)]));
}
