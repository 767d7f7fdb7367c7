import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { required } from '../env.ts';
import type { SessionStore } from '../sessions/session.ts';
import { ACCOUNT_IS_OPEN } from './account-conditions.ts';
import { number, readNumber, readText, text } from './attributes.ts';
import { dynamoDb } from './dynamodb.ts';
import { cancellationReasons, transact } from './transactions.ts';

const tableName = required('SESSIONS_TABLE');
/** Read when needed, not at load: of those who know sessions only the login makes them. */
const accountsTableName = () => required('ACCOUNTS_TABLE');
/** How long a login waits for the uploads that are at work on its account. */
const PATIENCE_MS = 5_000;

/** {@link SessionStore} in DynamoDB: a row a session, under the hash of its token. */
export const sessionStore: SessionStore = {
  async add({ tokenHash, accountId, createdAt, refreshedAt, expiresAt }) {
    const Item = {
      token_hash: text(tokenHash),
      account_id: text(accountId),
      created_at: number(createdAt),
      refreshed_at: number(refreshedAt),
      expires_at: number(expiresAt),
    };
    // In one transaction: who suspends the account afterwards finds the session, and who did so before prevents it.
    const isOpen = {
      TableName: accountsTableName(),
      Key: { id: text(accountId) },
      ConditionExpression: ACCOUNT_IS_OPEN,
    };
    try {
      const deadlineAt = Date.now() + PATIENCE_MS;
      await transact([{ Put: { TableName: tableName, Item } }, { ConditionCheck: isOpen }], { deadlineAt });
      return 'added';
    } catch (error) {
      if (cancellationReasons(error)[1]?.Code === 'ConditionalCheckFailed') return 'refused';
      throw error;
    }
  },

  async find(tokenHash) {
    const { Item } = await dynamoDb.send(
      new GetItemCommand({ TableName: tableName, Key: { token_hash: text(tokenHash) }, ConsistentRead: true }),
    );
    return (
      Item && {
        tokenHash,
        accountId: readText(Item, 'account_id'),
        createdAt: readNumber(Item, 'created_at'),
        refreshedAt: readNumber(Item, 'refreshed_at'),
        expiresAt: readNumber(Item, 'expires_at'),
        ...(Item.suspended && { isSuspended: true }),
      }
    );
  },

  async refresh({ tokenHash, refreshedAt, expiresAt }) {
    try {
      await dynamoDb.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: { token_hash: text(tokenHash) },
          UpdateExpression: 'SET refreshed_at = :refreshed, expires_at = :expires',
          // Logged out meanwhile, or refreshed by a later request: then this one has nothing to add.
          ConditionExpression: 'attribute_exists(token_hash) AND refreshed_at < :refreshed',
          ExpressionAttributeValues: {
            ':refreshed': number(refreshedAt),
            ':expires': number(expiresAt),
          },
        }),
      );
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  },

  async remove(tokenHash) {
    await dynamoDb.send(new DeleteItemCommand({ TableName: tableName, Key: { token_hash: text(tokenHash) } }));
  },
};
