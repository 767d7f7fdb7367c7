import {
  type AttributeValue,
  DeleteItemCommand,
  PutItemCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Operator } from '../support/operator.ts';

/** What otherwise takes hours, days or thousands of uploads, written to the tables by hand. */

type Row = Record<string, AttributeValue>;

const HOUR_SECONDS = 3_600;

/** The next request of everybody is the first in two hours: of no window, with a key and a session that were not used since. */
export async function forgetVisits({ dynamoDb, service: { tables } }: Operator): Promise<void> {
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

/** As if the account had had thousands of files more: the next is the first of a group of its listing. */
export async function nextSeqStartsGroup(
  { dynamoDb, service: { tables } }: Operator,
  accountId: string,
): Promise<void> {
  const Key = { account_id: { S: accountId }, id: { S: '#seq' } };
  const { Attributes } = await dynamoDb.send(
    new UpdateItemCommand({
      TableName: tables.files,
      Key,
      UpdateExpression: 'ADD #next :none',
      ExpressionAttributeNames: { '#next': 'next' },
      ExpressionAttributeValues: { ':none': number(0) },
      ReturnValues: 'ALL_NEW',
    }),
  );
  const next = Number(Attributes?.next?.N);
  await dynamoDb.send(
    new UpdateItemCommand({
      TableName: tables.files,
      Key,
      UpdateExpression: 'SET #next = :last',
      ExpressionAttributeNames: { '#next': 'next' },
      ExpressionAttributeValues: { ':last': number(Math.ceil((next + 1) / 8_192) * 8_192 - 1) },
    }),
  );
}

/** The next sweep walks the bucket, and looks at what is there now as if it were a day old. */
export async function walkEverything({ dynamoDb, service: { tables } }: Operator): Promise<void> {
  const Item = {
    account_id: { S: '#walk' },
    id: { S: '#walk' },
    started_at: number(Date.now()),
    is_over: { BOOL: false },
    checked_before: number(0),
    until: number(Date.now() + HOUR_SECONDS * 1_000),
    has_failed: { BOOL: false },
  };
  await dynamoDb.send(new PutItemCommand({ TableName: tables.files, Item }));
}

const number = (value: number): AttributeValue => ({ N: String(value) });
