import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CALL_MS, callSettings } from './call-times.ts';
import { prepare } from './failures.ts';

/** The one DynamoDB client of a function. */
export const dynamoDb = new DynamoDBClient(callSettings(CALL_MS.database));
prepare(dynamoDb);

/**
 * A client that never retries: for writes that must happen at most once a call, like the rate limiter's, where a retry
 * after a lost answer would count the request twice.
 */
export const dynamoDbOnce = new DynamoDBClient(callSettings(CALL_MS.database, 1));
prepare(dynamoDbOnce);
