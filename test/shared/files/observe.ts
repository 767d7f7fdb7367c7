import { DeleteItemCommand, paginateScan, QueryCommand } from '@aws-sdk/client-dynamodb';
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3';
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

/** The states of the account's files, then of its tickets that are not settled. */
export async function statesOf({ stores }: Service, accountId: string): Promise<string[]> {
  const files = await Array.fromAsync(stores.audit.rows(accountId));
  const tickets = await Array.fromAsync(stores.audit.tickets(accountId));
  return [...files, ...tickets].map(({ state }) => state).filter((state) => state !== 'settled');
}

export async function usageOf({ stores }: Service, accountId: string) {
  const account = await stores.accounts.get(accountId);
  return { bytes: account?.storageUsedBytes, files: account?.fileCount };
}

/**
 * Expects that the books, rows, listing and objects of an account agree. The account has only ready files and no unsettled ticket, and none
 * of its objects is without a row.
 */
export async function expectBalance(service: Service, accountId: string, usage: { files: number; bytes: number }) {
  const { differences } = await auditAccount(service.stores, accountId);
  expect(differences).toEqual([]);
  expect(await usageOf(service, accountId)).toEqual(usage);
  expect(await statesOf(service, accountId)).toEqual(Array.from({ length: usage.files }, () => 'ready'));
  expect(await strayKeys(service, accountId)).toEqual([]);
}

/**
 * Keys in the bucket that no row needs, neither that of a file nor that of a ticket: of these accounts, or of the whole bucket. Only a test
 * that shares its service with no other asks about the whole bucket. Parts of uploads have no owner, so they are none of an account's.
 */
export async function strayKeys(service: Service, ...accountIds: string[]): Promise<string[]> {
  const known = new Set<string | undefined>();
  for await (const { Items = [] } of paginateScan({ client: service.engine }, { TableName: service.tables.files })) {
    for (const { account_id, id, object_key } of Items) {
      known.add(object_key?.S);
      const [, owner, ticketId] = id?.S?.split('#') ?? [];
      if (account_id?.S?.startsWith('#tickets#')) known.add(`incoming/${owner}/${ticketId}`);
    }
  }
  const strays = (await keysInBucket(service)).filter((key) => !known.has(key));
  if (accountIds.length === 0) return [...strays, ...(await openParts(service)).filter((key) => !known.has(key))];
  const owners = await Promise.all(strays.map((key) => ownerOf(service, key)));
  return strays.filter((_, index) => accountIds.includes(owners[index] ?? ''));
}

/** The account that put the object into the bucket, or for which it was copied. */
async function ownerOf({ s3 }: Service, key: string): Promise<string | undefined> {
  const [, arrivedFor] = /^incoming\/([^/]+)\//.exec(key) ?? [];
  if (arrivedFor !== undefined) return arrivedFor;
  const { Metadata } = await s3.send(new HeadObjectCommand({ Bucket: BUCKET, Key: key }));
  return Metadata?.file?.split('/')[0];
}

/** Makes the next sweep begin a walk of every range of the bucket, whatever the clocks of earlier tests were. */
export async function forgetWalk({ engine, tables }: Service): Promise<void> {
  const { Items = [] } = await engine.send(
    new QueryCommand({
      TableName: tables.files,
      KeyConditionExpression: 'account_id = :walk',
      ExpressionAttributeValues: { ':walk': { S: '#walk' } },
      ConsistentRead: true,
    }),
  );
  for (const { account_id, id } of Items) {
    await engine.send(new DeleteItemCommand({ TableName: tables.files, Key: { account_id, id } as never }));
  }
}
