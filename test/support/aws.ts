import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, inject } from 'vitest';
import { type AwsFrontOptions, startAwsFront } from '../../local-aws/aws-front/aws-front.ts';
import type { FaultEffect } from '../../local-aws/aws-front/faults.ts';
import { credentialsOf } from '../../local-aws/aws-front/principals.ts';
import { createTables, dynamoDbClient } from './tables.ts';

/**
 * Starts the local AWS for the stores of one test file, with tables of its own, and sets the variables from which the stores read where AWS
 * is. Call it where the file begins, not in a hook, and load the stores after that: they read their environment when they load. The
 * `engine` makes calls past the front, which have no faults and are not counted.
 *
 * After each test its faults are removed. A test fails if one of its faults applied to no call.
 */
export async function startAws({ region = 'us-east-1', ...options }: Partial<AwsFrontOptions> = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'aws-'));
  const credentials = credentialsOf(randomUUID());
  const everything = {
    Version: '2012-10-17' as const,
    Statement: [{ Effect: 'Allow' as const, Action: '*', Resource: '*' }],
  };
  const front = await startAwsFront({
    region,
    accountId: '000000000000',
    dataDir,
    buckets: [],
    dynamoDbEndpoint: inject('dynamoDbEndpoint'),
    principals: [{ ...credentials, name: 'product', policies: [everything] }],
    ...options,
  });
  const engine = dynamoDbClient();
  const tables = await createTables(engine);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: front.endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_SESSION_TOKEN: credentials.sessionToken,
  });
  let begun = front.meter.mark();
  beforeEach(() => {
    begun = front.meter.mark();
  });
  afterEach(() => {
    try {
      front.faults.assertApplied();
    } finally {
      front.faults.clear();
    }
  });
  afterAll(async () => {
    await front.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  return {
    front,
    engine,
    tables,
    credentials,
    /** The operations that were called since the mark, such as `UpdateItem`, oldest first; by default since the test began. */
    operations: (mark = begun) => front.meter.since(mark).calls.map(({ operation }) => operation),
  };
}

/** The effect that DynamoDB refuses a call with this error. */
export function dynamoDbError(name: string, fields: object = {}): FaultEffect {
  const body = { __type: `com.amazonaws.dynamodb.v20120810#${name}`, Message: name, ...fields };
  return { answer: { status: 400, body } };
}

/** The effect that DynamoDB cancels a transaction, with one reason code for each item. */
export const cancelled = (...codes: string[]) =>
  dynamoDbError('TransactionCanceledException', { CancellationReasons: codes.map((Code) => ({ Code })) });
