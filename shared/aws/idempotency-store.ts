import { GetCommand, type TransactWritePut } from '@aws-sdk/lib-dynamodb';
import { IDEMPOTENCY_TTL_MS } from '../contract/limits.ts';
import type { FileRef, IdempotencyClaim, StoredFile } from '../files/file.ts';
import type { IdempotencyStore } from '../files/stores.ts';
import { dynamoDb, epochSeconds, type Item, readMap, readNumber, readText, tableName } from './dynamodb.ts';
import { fileAttributes } from './file-items.ts';

/**
 * {@link IdempotencyStore} in DynamoDB. A row `<account>#<key>` has `fingerprint`, `file_id`, `expires_at` (epoch seconds; DynamoDB may
 * remove the row days later) and, when the key stands for a file, `file`: a map of the file as the first answer showed it.
 */
export const idempotencyStore: IdempotencyStore = {
  async get(accountId, key, now) {
    const { Item } = await dynamoDb.send(
      new GetCommand({ TableName: tableName('idempotency'), Key: { id: rowId(accountId, key) }, ConsistentRead: true }),
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

/** Writes the record of an `Idempotency-Key` that stands for a file. This record may replace the one that the file's own ticket wrote. */
export function claimForFile(claim: IdempotencyClaim, file: StoredFile): TransactWritePut {
  return {
    ...recordOf(claim, file, { file: fileAttributes(file) }),
    ConditionExpression: `${IS_FREE} OR file_id = :id`,
    ExpressionAttributeValues: { ...freeAt(claim), ':id': file.id },
  };
}

/**
 * Writes the record of an `Idempotency-Key` that stands for a ticket.
 * @param replaces  the id of an earlier ticket for which the key stands, and which will never be a file.
 */
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
    TableName: tableName('idempotency'),
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
