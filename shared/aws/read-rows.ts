import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { serviceUnavailable } from '../errors.ts';
import type { TableName } from '../tables.ts';
import { dynamoDb, type Item, tableName } from './dynamodb.ts';

/**
 * Reads up to a hundred rows of a table in one call, by strong reads.
 * @returns those that exist, in any order.
 * @throws ApiError `service_unavailable` when DynamoDB throttles a part of the call.
 */
export async function readRows(table: TableName, keys: readonly Item[]): Promise<Item[]> {
  if (keys.length === 0) return [];
  const name = tableName(table);
  const { Responses, UnprocessedKeys } = await dynamoDb.send(
    new BatchGetCommand({ RequestItems: { [name]: { Keys: [...keys], ConsistentRead: true } } }),
  );
  // A hundred of our rows are far below the 16 MB of a batch, so keys are unprocessed only when DynamoDB throttles the call.
  if (Object.keys(UnprocessedKeys ?? {}).length > 0)
    throw serviceUnavailable({ detail: 'part of a batch was throttled' });
  return Responses?.[name] ?? [];
}
