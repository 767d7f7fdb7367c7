import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ENGINE_REGION } from '../aws-front/dynamodb-engine.ts';

/** A client of the engine itself, past the front. @param endpoint  its user name, if any, is the access key id of the tables. */
export function engineClient(endpoint: string): DynamoDBClient {
  const { origin, username } = new URL(endpoint);
  const credentials = { accessKeyId: username || 'local', secretAccessKey: 'unchecked' };
  return new DynamoDBClient({ endpoint: origin, region: ENGINE_REGION, credentials });
}
