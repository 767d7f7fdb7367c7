import { DeleteItemCommand, paginateQuery, paginateScan } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, ListMultipartUploadsCommand, paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { expect } from 'vitest';
import { auditAccount } from '../../../shared/administration/audit-account.ts';
import { BUCKET, type Service } from './service.ts';

/** Reads for tests, directly from the tables and the bucket. */

/** Every key in the bucket. */
export async function keysInBucket({ s3 }: Service): Promise<string[]> {
  const keys: string[] = [];
  for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket: BUCKET })) {
    keys.push(...Contents.map(({ Key = '' }) => Key));
  }
  return keys;
}

/** Uploads in parts that were neither completed nor aborted. */
export async function openParts({ s3 }: Service): Promise<string[]> {
  const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }));
  return Uploads.map(({ Key = '' }) => Key);
}

export async function readObject({ s3 }: Service, key: string) {
  const { Body, ContentType, ContentDisposition, Metadata } = await s3.send(
    new GetObjectCommand({ Bucket: BUCKET, Key: key }),
  );
  return { bytes: Buffer.from((await Body?.transformToByteArray()) ?? []), ContentType, ContentDisposition, Metadata };
}

/** The states of the account's file rows. */
export async function statesOf({ engine, tables }: Service, accountId: string): Promise<string[]> {
  const pages = paginateQuery(
    { client: engine },
    {
      TableName: tables.files,
      ConsistentRead: true,
      KeyConditionExpression: 'account_id = :account',
      ExpressionAttributeValues: { ':account': { S: accountId } },
    },
  );
  const rows = (await Array.fromAsync(pages)).flatMap(({ Items = [] }) => Items);
  return rows.flatMap(({ state }) => state?.S ?? []);
}

export async function usageOf({ stores }: Service, accountId: string) {
  const account = await stores.accounts.get(accountId);
  return { bytes: account?.storageUsedBytes, files: account?.fileCount };
}

/** Expects that books, rows, listing and objects of an account agree, and that no work is left. */
export async function expectBalance(service: Service, accountId: string, usage: { files: number; bytes: number }) {
  const { differences } = await auditAccount(service.stores, accountId);
  expect(differences).toEqual([]);
  expect(await usageOf(service, accountId)).toEqual(usage);
  expect(await statesOf(service, accountId)).toEqual(Array.from({ length: usage.files }, () => 'ready'));
  expect(await strayKeys(service)).toEqual([]);
}

/** Keys in the bucket that no row needs. A ready row needs its object in `incoming/` until its ticket ends. */
export async function strayKeys(service: Service): Promise<string[]> {
  const known = new Set<string | undefined>();
  for await (const { Items = [] } of paginateScan({ client: service.engine }, { TableName: service.tables.files })) {
    for (const { state, via, object_key, ticket_ends_at, account_id, id } of Items) {
      known.add(object_key?.S);
      const isKept = via?.S === 'ticket' && (state?.S !== 'ready' || ticket_ends_at);
      if (isKept) known.add(`incoming/${account_id?.S}/${id?.S}`);
    }
  }
  const keys = [...(await keysInBucket(service)), ...(await openParts(service))];
  return keys.filter((key) => !known.has(key));
}

/** Makes the next sweep begin a walk of the bucket, whatever the clocks of earlier tests were. */
export async function forgetWalk({ engine, tables }: Service): Promise<void> {
  const Key = { account_id: { S: '#walk' }, id: { S: '#walk' } };
  await engine.send(new DeleteItemCommand({ TableName: tables.files, Key }));
}
