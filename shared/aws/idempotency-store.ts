import { GetCommand, type TransactWritePut } from '@aws-sdk/lib-dynamodb';
import { required } from '../env.ts';
import type { FileRef, IdempotencyClaim, StoredFile } from '../files/file.ts';
import type { IdempotencyStore } from '../files/file-store.ts';
import { IDEMPOTENCY_TTL_MS } from '../limits.ts';
import { dynamoDb, epochSeconds, type Item, readMap, readNumber, readText } from './dynamodb.ts';
import { fileAttributes } from './file-items.ts';

const tableName = required('IDEMPOTENCY_TABLE');

/**
 * {@link IdempotencyStore} in DynamoDB: rows `<account>#<key>` with `fingerprint`, `file_id`, `expires_at` (epoch seconds,
 * which DynamoDB may honour days late) and, once there is one, `file`: a map of what the file was first answered as.
 */
export const idempotencyStore: IdempotencyStore = {
  async get(accountId, key, now) {
    const { Item } = await dynamoDb.send(
      new GetCommand({ TableName: tableName, Key: { id: rowId(accountId, key) }, ConsistentRead: true }),
    );
    if (!Item || readNumber(Item, 'expires_at') <= epochSeconds(now)) return undefined;
    const fileId = readText(Item, 'file_id');
    const file = readMap(Item, 'file');
    return {
      fingerprint: readText(Item, 'fingerprint'),
      fileId,
      ...(file && { file: toFile(file, accountId, fileId) }),
    };
  },
};

/** The record of a key that stands for a file now: nobody else's, but perhaps the one its ticket wrote. */
export function claimForFile(claim: IdempotencyClaim, file: StoredFile): TransactWritePut {
  return {
    ...recordOf(claim, file, { file: fileAttributes(file) }),
    ConditionExpression: `${IS_FREE} OR file_id = :id`,
    ExpressionAttributeValues: { ...freeAt(claim), ':id': file.id },
  };
}

/** The record of a key that stands for a ticket. @param replaces  a ticket of the key that will never be a file. */
export function claimForTicket(
  claim: IdempotencyClaim,
  ticket: FileRef,
  replaces: string | undefined,
): TransactWritePut {
  const record = recordOf(claim, ticket, {});
  if (replaces === undefined) {
    return { ...record, ConditionExpression: IS_FREE, ExpressionAttributeValues: freeAt(claim) };
  }
  return {
    ...record,
    ConditionExpression: `${IS_FREE} OR (file_id = :replaces AND attribute_not_exists(#file))`,
    ExpressionAttributeNames: { '#file': 'file' },
    ExpressionAttributeValues: { ...freeAt(claim), ':replaces': replaces },
  };
}

const IS_FREE = 'attribute_not_exists(id) OR expires_at <= :now';
const freeAt = ({ claimedAt }: IdempotencyClaim): Item => ({ ':now': epochSeconds(claimedAt) });

function recordOf({ key, fingerprint, claimedAt }: IdempotencyClaim, { accountId, id }: FileRef, more: Item) {
  return {
    TableName: tableName,
    Item: {
      id: rowId(accountId, key),
      fingerprint,
      file_id: id,
      expires_at: epochSeconds(claimedAt + IDEMPOTENCY_TTL_MS),
      ...more,
    },
  };
}

function rowId(accountId: string, key: string) {
  return `${accountId}#${key}`;
}

function toFile(item: Item, accountId: string, id: string): StoredFile {
  return {
    accountId,
    id,
    name: readText(item, 'name'),
    mimeType: readText(item, 'mime_type'),
    sizeBytes: readNumber(item, 'size_bytes'),
    objectKey: readText(item, 'object_key'),
    createdAt: readNumber(item, 'created_at'),
  };
}
