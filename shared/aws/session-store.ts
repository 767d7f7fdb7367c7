import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { required } from '../env.ts';
import type { SessionStore } from '../sessions/session.ts';
import { dynamoDb } from './dynamodb.ts';

const tableName = required('SESSIONS_TABLE');

/** {@link SessionStore} in DynamoDB: a row a session, under the hash of its token. */
export const sessionStore: SessionStore = {
  async add({ tokenHash, accountId, createdAt, refreshedAt, expiresAt }) {
    await dynamoDb.send(
      new PutItemCommand({
        TableName: tableName,
        Item: {
          token_hash: { S: tokenHash },
          account_id: { S: accountId },
          created_at: { N: String(createdAt) },
          refreshed_at: { N: String(refreshedAt) },
          expires_at: { N: String(expiresAt) },
        },
      }),
    );
  },

  async find(tokenHash) {
    const { Item } = await dynamoDb.send(
      new GetItemCommand({ TableName: tableName, Key: { token_hash: { S: tokenHash } }, ConsistentRead: true }),
    );
    return (
      Item && {
        tokenHash,
        accountId: Item.account_id?.S ?? '',
        createdAt: Number(Item.created_at?.N),
        refreshedAt: Number(Item.refreshed_at?.N),
        expiresAt: Number(Item.expires_at?.N),
      }
    );
  },

  async refresh({ tokenHash, refreshedAt, expiresAt }) {
    try {
      await dynamoDb.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: { token_hash: { S: tokenHash } },
          UpdateExpression: 'SET refreshed_at = :refreshed, expires_at = :expires',
          // Logged out meanwhile, or refreshed by a later request: then this one has nothing to add.
          ConditionExpression: 'attribute_exists(token_hash) AND refreshed_at < :refreshed',
          ExpressionAttributeValues: {
            ':refreshed': { N: String(refreshedAt) },
            ':expires': { N: String(expiresAt) },
          },
        }),
      );
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  },

  async remove(tokenHash) {
    await dynamoDb.send(new DeleteItemCommand({ TableName: tableName, Key: { token_hash: { S: tokenHash } } }));
  },
};
