import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import type { KeyMarkStore } from '../administration/administration-store.ts';
import { required } from '../env.ts';
import { ACCOUNT_IS_OPEN, ACCOUNT_IS_SUSPENDED } from './account-conditions.ts';
import { accountPartition, keyAt } from './api-key-rows.ts';
import { dynamoDb, readText } from './dynamodb.ts';
import { failedConditions, transact } from './transactions.ts';

const accountsTable = required('ACCOUNTS_TABLE');
const keysTable = required('API_KEYS_TABLE');

/** {@link KeyMarkStore} in DynamoDB. */
export const keyMarkStore: KeyMarkStore = {
  async *all(accountId) {
    const pages = paginateQuery(
      { client: dynamoDb },
      {
        TableName: keysTable,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :account',
        ExpressionAttributeValues: { ':account': accountPartition(accountId) },
      },
    );
    for await (const { Items = [] } of pages) {
      for (const item of Items) yield { hash: readText(item, 'key_hash'), id: readText(item, 'sk') };
    }
  },

  async mark(accountId, { hash }, isSuspended, deadline) {
    const account = {
      TableName: accountsTable,
      Key: { id: accountId },
      ConditionExpression: isSuspended ? ACCOUNT_IS_SUSPENDED : ACCOUNT_IS_OPEN,
    };
    // A mark must not bring back, in part, a key that was revoked since it was found.
    const key = { TableName: keysTable, Key: keyAt(hash), ConditionExpression: 'attribute_exists(pk)' };
    const change = isSuspended
      ? { UpdateExpression: 'SET suspended = :yes', ExpressionAttributeValues: { ':yes': true } }
      : { UpdateExpression: 'REMOVE suspended' };
    try {
      await transact([{ ConditionCheck: account }, { Update: { ...key, ...change } }], deadline);
      return true;
    } catch (error) {
      const [ofAccount, ofKey] = failedConditions(error);
      if (ofAccount) return false;
      if (ofKey) return true;
      throw error;
    }
  },
};
