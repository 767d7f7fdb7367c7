import { S3Client } from '@aws-sdk/client-s3';
import type { AwsFrontOptions } from '../../../local-aws/aws-front/aws-front.ts';
import { ALL_SHARDS, rangeOf } from '../../../shared/files/shards.ts';
import { startAws } from '../../support/aws.ts';
import { bePatient } from '../../support/patient-clients.ts';

export const BUCKET = 'files';
/**
 * Loads the product's stores on the local AWS, for one test file.
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
  const { front, engine, tables, credentials } = await startAws({ buckets: [{ name: BUCKET }], ...options });
  process.env.UPLOADS_BUCKET = BUCKET;
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
