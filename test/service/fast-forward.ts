import {
  type AttributeValue,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { ALL_SHARDS } from '../../shared/files/shards.ts';
import type { Operator } from '../support/operator.ts';

/** Writes to the tables what would otherwise take hours, days or thousands of uploads. */

type Row = Record<string, AttributeValue>;

const HOUR_SECONDS = 3_600;

/**
 * Makes the next request of every client the first in two hours. The windows of the rate limits are gone, keys look unused, and the last
 * use of each session was two hours ago.
 */
export async function forgetRecentUse({ dynamoDb, service: { tables } }: Operator): Promise<void> {
  const each = async (TableName: string, change: (row: Row) => Promise<unknown>) => {
    const { Items = [] } = await dynamoDb.send(new ScanCommand({ TableName, ConsistentRead: true }));
    await Promise.all(Items.map(change));
  };
  await each(tables.rateLimits, ({ id }) =>
    dynamoDb.send(new DeleteItemCommand({ TableName: tables.rateLimits, Key: { id } as Row })),
  );
  await each(tables.apiKeys, ({ pk, sk }) =>
    dynamoDb.send(
      new UpdateItemCommand({
        TableName: tables.apiKeys,
        Key: { pk, sk } as Row,
        UpdateExpression: 'REMOVE last_used_at',
      }),
    ),
  );
  const now = Math.floor(Date.now() / 1_000);
  const times = { ':past': number(now - 2 * HOUR_SECONDS), ':soon': number(now + HOUR_SECONDS) };
  await each(tables.sessions, ({ token_hash }) =>
    dynamoDb.send(
      new UpdateItemCommand({
        TableName: tables.sessions,
        Key: { token_hash } as Row,
        UpdateExpression: 'SET refreshed_at = :past, expires_at = :soon',
        ExpressionAttributeValues: times,
      }),
    ),
  );
}

/**
 * Makes the account's next file the first of a group of the listing. The seqs that this skips have no files, and the books do not
 * count them as deleted.
 */
export function nextSeqStartsGroup(operator: Operator, accountId: string): Promise<void> {
  return skipTo(operator, accountId, (next) => (Math.floor(next / 8_192) + 1) * 8_192);
}

/** Makes the account's next file the last of a leaf of the listing, in the same way. */
export function nextSeqEndsLeaf(operator: Operator, accountId: string): Promise<void> {
  return skipTo(operator, accountId, (next) => (Math.floor(next / 64) + 1) * 64 - 1);
}

async function skipTo(
  { dynamoDb, service: { tables } }: Operator,
  accountId: string,
  target: (nextSeq: number) => number,
): Promise<void> {
  const account = { TableName: tables.accounts, Key: { id: { S: accountId } } };
  const { Item } = await dynamoDb.send(new GetItemCommand({ ...account, ConsistentRead: true }));
  await dynamoDb.send(
    new UpdateItemCommand({
      ...account,
      UpdateExpression: 'SET next_seq = :next',
      ExpressionAttributeValues: { ':next': number(target(Number(Item?.next_seq?.N))) },
    }),
  );
}

/** Makes the next sweep walk the bucket, and treat everything in it as a day old. */
export async function walkEverything({ dynamoDb, service: { tables } }: Operator): Promise<void> {
  for (const shard of ALL_SHARDS)
    await dynamoDb.send(new PutItemCommand({ TableName: tables.files, Item: walkOf(shard) }));
}

const walkOf = (shard: number): Record<string, AttributeValue> => ({
  account_id: { S: '#walk' },
  id: { S: String(shard) },
  started_at: number(Date.now()),
  is_over: { BOOL: false },
  checked_before: number(0),
  until: number(Date.now() + HOUR_SECONDS * 1_000),
  has_failed: { BOOL: false },
});

/** What `readBooks` reports when parts have no row. The walk goes by the real age of parts, so no walk of a test removes them. */
export const PARTS_TOO_YOUNG = /^no row refers to the unfinished multipart upload of uploads\//;

const number = (value: number): AttributeValue => ({ N: String(value) });
