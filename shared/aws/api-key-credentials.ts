import { ConditionalCheckFailedException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { ApiKeyCredentials } from '../api-keys/api-key.ts';
import { required } from '../env.ts';
import { keyAt, toStoredKey } from './api-key-rows.ts';
import { dynamoDb } from './dynamodb.ts';

/** Read when needed, not at load: the routes that take no keys load this file, and have no such table. */
const tableName = () => required('API_KEYS_TABLE');

/** {@link ApiKeyCredentials} in DynamoDB. */
export const apiKeyCredentials: ApiKeyCredentials = {
  async find(keyHash) {
    const { Item } = await dynamoDb.send(
      new GetCommand({ TableName: tableName(), Key: keyAt(keyHash), ConsistentRead: true }),
    );
    return Item && toStoredKey(Item);
  },

  async noteUse(keyHash, usedAt, unlessSince) {
    try {
      await dynamoDb.send(
        new UpdateCommand({
          TableName: tableName(),
          Key: keyAt(keyHash),
          UpdateExpression: 'SET last_used_at = :used',
          // Without the first half a late note would bring a revoked key's row back, in part.
          ConditionExpression:
            'attribute_exists(pk) AND (attribute_not_exists(last_used_at) OR last_used_at <= :since)',
          ExpressionAttributeValues: { ':used': usedAt, ':since': unlessSince },
        }),
      );
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException || error instanceof TransactionConflictException) return;
      throw error;
    }
  },
};
