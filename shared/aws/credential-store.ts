import { paginateQuery, paginateScan, type Update } from '@aws-sdk/client-dynamodb';
import type { Credential, CredentialStore } from '../accounts/credential-store.ts';
import { required } from '../env.ts';
import { ACCOUNT_IS_OPEN, ACCOUNT_IS_SUSPENDED } from './account-conditions.ts';
import { accountPartition, keyAt } from './api-key-rows.ts';
import { readText, text } from './attributes.ts';
import { dynamoDb } from './dynamodb.ts';
import { sessionStore } from './session-store.ts';
import { cancellationReasons, transact } from './transactions.ts';

const accountsTable = required('ACCOUNTS_TABLE');
const keysTable = required('API_KEYS_TABLE');
const sessionsTable = required('SESSIONS_TABLE');

/** {@link CredentialStore} in DynamoDB. */
export const credentialStore: CredentialStore = {
  async *all(accountId) {
    const keys = paginateQuery(
      { client: dynamoDb },
      {
        TableName: keysTable,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :account',
        ExpressionAttributeValues: { ':account': text(accountPartition(accountId)) },
      },
    );
    for await (const { Items = [] } of keys) {
      for (const item of Items) yield { kind: 'key', hash: readText(item, 'key_hash'), id: readText(item, 'sk') };
    }
    const sessions = paginateScan(
      { client: dynamoDb },
      {
        TableName: sessionsTable,
        ConsistentRead: true,
        ProjectionExpression: 'token_hash',
        FilterExpression: 'account_id = :account',
        ExpressionAttributeValues: { ':account': text(accountId) },
      },
    );
    for await (const { Items = [] } of sessions) {
      for (const item of Items) yield { kind: 'session', hash: readText(item, 'token_hash') };
    }
  },

  async mark(accountId, credential, isSuspended, deadline) {
    const account = {
      TableName: accountsTable,
      Key: { id: text(accountId) },
      ConditionExpression: isSuspended ? ACCOUNT_IS_SUSPENDED : ACCOUNT_IS_OPEN,
    };
    const change = isSuspended
      ? { UpdateExpression: 'SET suspended = :yes', ExpressionAttributeValues: { ':yes': { BOOL: true } } }
      : { UpdateExpression: 'REMOVE suspended' };
    try {
      await transact([{ ConditionCheck: account }, { Update: { ...rowOf(credential), ...change } }], deadline);
      return true;
    } catch (error) {
      const [ofAccount, ofRow] = cancellationReasons(error).map(({ Code }) => Code === 'ConditionalCheckFailed');
      if (ofAccount) return false;
      // Revoked, or logged out, since it was found.
      if (ofRow) return true;
      throw error;
    }
  },

  async countLiveSessions(accountId, now) {
    const pages = paginateQuery(
      { client: dynamoDb },
      {
        TableName: sessionsTable,
        IndexName: 'by_account',
        KeyConditionExpression: 'account_id = :account',
        ExpressionAttributeValues: { ':account': text(accountId) },
      },
    );
    let live = 0;
    for await (const { Items = [] } of pages) {
      const sessions = await Promise.all(Items.map((item) => sessionStore.find(readText(item, 'token_hash'))));
      live += sessions.filter((session) => session && session.expiresAt * 1_000 > now).length;
    }
    return live;
  },
};

/** The row that authenticates, if it is still there: a mark must not bring one back, in part. */
function rowOf({ kind, hash }: Credential): Pick<Update, 'TableName' | 'Key' | 'ConditionExpression'> {
  return kind === 'key'
    ? { TableName: keysTable, Key: keyAt(hash), ConditionExpression: 'attribute_exists(pk)' }
    : {
        TableName: sessionsTable,
        Key: { token_hash: text(hash) },
        ConditionExpression: 'attribute_exists(token_hash)',
      };
}
