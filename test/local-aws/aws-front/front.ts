import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand, DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { afterAll, inject } from 'vitest';
import { type AwsFront, type AwsFrontOptions, startAwsFront } from '../../../local-aws/aws-front/aws-front.ts';
import type { PolicyDocument } from '../../../local-aws/aws-front/policy-document.ts';
import type { Principal } from '../../../local-aws/aws-front/principals.ts';
import { dynamoDbClient as engineClient } from '../../support/tables.ts';

export const ACCOUNT = { region: 'us-east-1', accountId: '000000000000' };
export const BUCKET = 'files';

/** A policy with one statement, which allows the actions on the resources. */
export const allow = (Action: string | string[], Resource: string | string[], more = {}): PolicyDocument => ({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action, Resource, ...more }],
});

/** A principal with new keys. */
export function principal(name: string, ...policies: PolicyDocument[]): Principal {
  const accessKeyId = `AKID${randomUUID().replaceAll('-', '').toUpperCase()}`;
  return { accessKeyId, secretAccessKey: randomUUID(), name, policies };
}

/** A principal that may do everything. */
export const ADMIN = principal('admin', allow('*', '*'));

/** Starts a front that serves the bucket to the admin. The caller closes it. */
export async function startFront(options: Partial<AwsFrontOptions> = {}): Promise<AwsFront> {
  return startAwsFront({
    ...ACCOUNT,
    dataDir: options.dataDir ?? temporaryDirectory(),
    buckets: [{ name: BUCKET }],
    dynamoDbEndpoint: inject('dynamoDbEndpoint'),
    ...options,
    principals: [ADMIN, ...(options.principals ?? [])],
  });
}

/** Starts a front for all tests of a file, and closes it after them. */
export async function frontOfFile(options: Partial<AwsFrontOptions> = {}): Promise<AwsFront> {
  const front = await startFront(options);
  afterAll(async () => {
    await front.close();
    front.faults.assertApplied();
  });
  return front;
}

/** Creates a table with the key `id` and the index `by-id`, past every front. @returns its name. */
export async function createTable(): Promise<string> {
  const TableName = `table-${randomUUID()}`;
  const KeySchema = [{ AttributeName: 'id', KeyType: 'HASH' as const }];
  await engineClient().send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema,
      GlobalSecondaryIndexes: [{ IndexName: 'by-id', KeySchema, Projection: { ProjectionType: 'ALL' } }],
    }),
  );
  return TableName;
}

const temporary: string[] = [];
process.once('exit', () => {
  for (const directory of temporary) rmSync(directory, { recursive: true, force: true });
});

/** A directory that is deleted when the process ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'aws-front-'));
  temporary.push(directory);
  return directory;
}

export function s3Client(
  { endpoint }: Pick<AwsFront, 'endpoint'>,
  credentials: Principal = ADMIN,
  config: S3ClientConfig = {},
): S3Client {
  return new S3Client({ endpoint, region: ACCOUNT.region, credentials, maxAttempts: 1, ...config });
}

export function dynamoDbClient(
  { endpoint }: Pick<AwsFront, 'endpoint'>,
  credentials: Principal = ADMIN,
  config: DynamoDBClientConfig = {},
): DynamoDBClient {
  return new DynamoDBClient({ endpoint, region: ACCOUNT.region, credentials, maxAttempts: 1, ...config });
}

/** The error that a caller sees. Throws when the call succeeded. */
export async function failureOf(call: Promise<unknown>): Promise<{ name: string; status: number | undefined }> {
  const error = await call.then(
    () => {
      throw new Error('the call succeeded');
    },
    (thrown: Error & { $metadata?: { httpStatusCode?: number } }) => thrown,
  );
  return { name: error.name, status: error.$metadata?.httpStatusCode };
}
