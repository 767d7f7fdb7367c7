import { join } from 'node:path';
import type { AwsFrontOptions } from './aws-front/aws-front.ts';
import { startDynamoDbLocal } from './dynamodb/dynamodb-local.ts';

/** The engines behind the AWS front, which store the data. */
export type Engines = Pick<AwsFrontOptions, 'dynamoDbCredentials' | 'dynamoDbEndpoint' | 's3Engine'>;

/**
 * Starts the engines: Amazon's DynamoDB Local, and our own S3 server as part of the front. `AWS_ENDPOINT_URL_DYNAMODB` and
 * `AWS_ENDPOINT_URL_S3` name others to use instead, with the access key of `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`.
 */
export async function startEngines(
  dataDir: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Engines & { close(): Promise<void> }> {
  const { AWS_ENDPOINT_URL_DYNAMODB: dynamoDb, AWS_ENDPOINT_URL_S3: s3 } = environment;
  const credentials = {
    accessKeyId: environment.AWS_ACCESS_KEY_ID ?? 'local',
    secretAccessKey: environment.AWS_SECRET_ACCESS_KEY ?? 'local',
  };
  const local = dynamoDb ? undefined : await startDynamoDbLocal({ dataDir: join(dataDir, 'dynamodb') });
  return {
    dynamoDbEndpoint: local?.endpoint ?? String(dynamoDb),
    ...(dynamoDb && { dynamoDbCredentials: credentials }),
    ...(s3 && { s3Engine: { endpoint: s3, credentials } }),
    close: async () => local?.close(),
  };
}
