import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, inject } from 'vitest';
import { type AwsFrontOptions, startAwsFront } from '../../../local-aws/aws-front/aws-front.ts';
import { credentialsOf } from '../../../local-aws/aws-front/principals.ts';
import { ALL_SHARDS, rangeOf } from '../../../shared/files/shards.ts';
import { bePatient } from '../../support/patient-clients.ts';
import { createTables, dynamoDbClient } from '../../support/tables.ts';

export const BUCKET = 'files';
/**
 * Loads the product's stores on real engines, for one test file: the database, and the AWS front before it.
 * The front is also the S3 server; it counts calls and injects faults. Call it once in a test file; it ends with the file.
 * @param options.hasTimeLimits  true to keep the product's time limits of calls, for tests in which a call gets no answer.
 * @param options.front  more options of the front.
 */
export async function startService({
  hasTimeLimits = false,
  front: options = {},
}: {
  hasTimeLimits?: boolean;
  front?: Partial<AwsFrontOptions>;
} = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'files-'));
  const credentials = credentialsOf(randomUUID());
  const everything = {
    Version: '2012-10-17' as const,
    Statement: [{ Effect: 'Allow' as const, Action: '*', Resource: '*' }],
  };
  const front = await startAwsFront({
    region: 'us-east-1',
    accountId: '000000000000',
    dataDir,
    buckets: [{ name: BUCKET }],
    dynamoDbEndpoint: inject('dynamoDbEndpoint'),
    principals: [{ ...credentials, name: 'product', policies: [everything] }],
    ...options,
  });
  const engine = dynamoDbClient();
  const tables = await createTables(engine);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: front.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_SESSION_TOKEN: credentials.sessionToken,
    UPLOADS_BUCKET: BUCKET,
  });
  afterAll(async () => {
    await front.close();
    await rm(dataDir, { recursive: true, force: true });
    front.faults.assertApplied();
  });
  // The stores read their environment when they load.
  const stores = await loadStores();
  if (!hasTimeLimits) {
    const { dynamoDb, dynamoDbOnce } = await import('../../../shared/aws/dynamodb.ts');
    bePatient(dynamoDb, dynamoDbOnce, (await import('../../../shared/aws/object-store.ts')).s3);
  }
  const s3 = new S3Client({ endpoint: front.endpoint, region: 'us-east-1', credentials });
  return { front, engine, tables, stores, s3 };
}

export type Service = Awaited<ReturnType<typeof startService>>;

async function loadStores() {
  const [accounts, audit, files, idempotency, listing, objects, releases, seals, settlements, signer, tickets, work] =
    await Promise.all([
      import('../../../shared/aws/account-store.ts'),
      import('../../../shared/aws/audit-store.ts'),
      import('../../../shared/aws/file-store.ts'),
      import('../../../shared/aws/idempotency-store.ts'),
      import('../../../shared/aws/listing-store.ts'),
      import('../../../shared/aws/object-store.ts'),
      import('../../../shared/aws/release-store.ts'),
      import('../../../shared/aws/seal-store.ts'),
      import('../../../shared/aws/settlement-store.ts'),
      import('../../../shared/aws/sign-upload.ts'),
      import('../../../shared/aws/ticket-store.ts'),
      import('../../../shared/aws/work-store.ts'),
    ]);
  return {
    accounts: accounts.accountStore,
    audit: audit.auditStore,
    files: files.fileStore,
    idempotency: idempotency.idempotencyStore,
    inventory: objects.objectInventory,
    listing: listing.listingStore,
    objects: objects.objectStore,
    releases: releases.releaseStore,
    seals: seals.sealStore,
    settlements: settlements.settlementStore,
    signUpload: signer.signUpload,
    tickets: tickets.ticketStore,
    work: work.workStore,
  };
}

/** The shard whose range has the key. */
export const shardOfKey = (key: string): number =>
  ALL_SHARDS.findLastIndex((shard) => key > (rangeOf(shard).after ?? ''));
