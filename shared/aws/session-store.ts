import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { required } from '../env.ts';
import type { SessionStore } from '../sessions/session.ts';
import { number, readNumber, readText, text } from './attributes.ts';
import { dynamoDb } from './dynamodb.ts';

const tableName = required('SESSIONS_TABLE');

/** {@link SessionStore} in DynamoDB: a row a session, under the hash of its token. */
export const sessionStore: SessionStore = {
  async add({ tokenHash, accountId, createdAt, refreshedAt, expiresAt }) {
    await dynamoDb.send(
      new PutItemCommand({
        TableName: tableName,
        Item: {
          token_hash: text(tokenHash),
          account_id: text(accountId),
          created_at: number(createdAt),
          refreshed_at: number(refreshedAt),
          expires_at: number(expiresAt),
        },
      }),
    );
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
