import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { translateFailures } from './failures.ts';

/**
 * The one DynamoDB client of a function. Single-digit milliseconds are usual, so a call that takes two seconds is lost:
 * better to retry within the route's own deadline. A connection may take three: TCP tries a lost first packet again after one.
 * (Without `throwOnRequestTimeout` the SDK only prints a warning and waits.)
 */
export const dynamoDb = new DynamoDBClient({
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 3_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
});
translateFailures(dynamoDb);

/**
 * A client that never retries: for writes that must happen at most once a call, like the rate limiter's, where a retry
 * after a lost answer would count the request twice.
 */
export const dynamoDbOnce = new DynamoDBClient({
  maxAttempts: 1,
  requestHandler: { connectionTimeout: 3_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
});
translateFailures(dynamoDbOnce);
