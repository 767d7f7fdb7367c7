import { GetCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Account, AccountStore } from '../accounts/account.ts';
import { dayOf } from '../accounts/allowance.ts';
import {
  dynamoDb,
  dynamoDbOnce,
  failedCondition,
  type Item,
  readNumber,
  readNumbers,
  readOptionalNumber,
  readOptionalText,
  readText,
  tableName,
} from './dynamodb.ts';
import { writeItem } from './transactions.ts';

/**
 * Conditions on the row of an account. An account is suspended when its row has `suspended`, whatever the value. The rows of its keys have
 * the same mark, because the row of a key alone decides whether the key is valid. The rows of sessions have no such mark, because a
 * suspension ends the sessions.
 */

/** The account exists and is not suspended, so it may be given a key, a session or a file. */
export const ACCOUNT_IS_OPEN = 'attribute_exists(id) AND attribute_not_exists(suspended)';
export const ACCOUNT_IS_SUSPENDED = 'attribute_exists(suspended)';

export function accountAt(id: string) {
  return { TableName: tableName('accounts'), Key: { id } };
}

/**
 * {@link AccountStore} in DynamoDB, with one row for each account:
 * - its profile: `email`, `name`, `picture_url`, `created_at` (epoch milliseconds);
 * - its books: `storage_used_bytes`, `file_count`, `key_count`, `next_seq`, `last_file_at` (epoch milliseconds), `removed` (listing group →
 *   number of its removed files), `books_revision` (0 while absent). Only transactions change the books. (`mergeRemoved` is one conditional
 *   update, which merges several entries of `removed` into one with the same meaning);
 * - the bytes of the last day on which it sent any: `sent_bytes`, `sent_day` (days since 1970); both absent before the first such day;
 * - what the operator sets (see `administration-store.ts`): `storage_limit_bytes`; `suspended` and `deleting`, which are true or absent.
 */
export const accountStore: AccountStore = {
  async get(id) {
    const { Item } = await dynamoDb.send(new GetCommand({ ...accountAt(id), ConsistentRead: true }));
    return Item && toAccount(Item);
  },

  async upsert({ id, email, name, pictureUrl }, now) {
    const keep = (attribute: string, initial: string) => `${attribute} = if_not_exists(${attribute}, ${initial})`;
    const { Attributes } = await update(id, {
      UpdateExpression: `SET email = :email, #name = :name, ${pictureUrl === undefined ? '' : 'picture_url = :picture,'} ${[
        keep('created_at', ':now'),
        keep('storage_used_bytes', ':zero'),
        keep('file_count', ':zero'),
        keep('key_count', ':zero'),
        keep('next_seq', ':zero'),
        keep('last_file_at', ':zero'),
        keep('removed', ':none'),
      ].join(', ')} ${pictureUrl === undefined ? 'REMOVE picture_url' : ''}`,
      ExpressionAttributeNames: { '#name': 'name' },
      ExpressionAttributeValues: {
        ':email': email,
        ':name': name,
        ...(pictureUrl !== undefined && { ':picture': pictureUrl }),
        ':now': now,
        ':zero': 0,
        ':none': {},
      },
      ReturnValues: 'ALL_NEW',
    });
    return toAccount(Attributes ?? {});
  },

  async countSent(id, bytes, now) {
    const values = { ':today': dayOf(now), ':bytes': bytes };
    const add = {
      UpdateExpression: 'SET sent_bytes = sent_bytes + :bytes',
      ConditionExpression: 'sent_day >= :today',
      ExpressionAttributeValues: values,
    };
    const begin = {
      UpdateExpression: 'SET sent_day = :today, sent_bytes = :bytes',
      ConditionExpression: 'attribute_exists(id) AND (attribute_not_exists(sent_day) OR sent_day < :today)',
      ExpressionAttributeValues: values,
    };
    // The third attempt is needed when another request begins the day between the first two attempts.
    for (const change of [add, begin, add]) {
      const command = new UpdateCommand({ ...accountAt(id), ...change });
      if (!(await failedCondition(writeItem(() => dynamoDbOnce.send(command))))) return;
    }
  },

  async mergeRemoved(id, entries) {
    const name = (index: number) => `#removed.#group${index}`;
    const [, ...rest] = entries;
    const merge = update(id, {
      UpdateExpression: `SET ${name(0)} = :sum REMOVE ${rest.map((_, index) => name(index + 1)).join(', ')}`,
      ConditionExpression: entries.map((_, index) => `${name(index)} = :removed${index}`).join(' AND '),
      ExpressionAttributeNames: {
        '#removed': 'removed',
        ...Object.fromEntries(entries.map(([group], index) => [`#group${index}`, String(group)])),
      },
      ExpressionAttributeValues: {
        ':sum': entries.reduce((sum, [, removed]) => sum + removed, 0),
        ...Object.fromEntries(entries.map(([, removed], index) => [`:removed${index}`, removed])),
      },
    });
    await failedCondition(merge);
  },
};

function update(id: string, input: Omit<UpdateCommandInput, 'TableName' | 'Key'>) {
  const command = new UpdateCommand({ ...accountAt(id), ...input });
  return writeItem(() => dynamoDb.send(command));
}

/** Reads a row that does not exist. @throws when the database does not answer before `signal` aborts the call. */
export function probeDatabase(signal: AbortSignal): Promise<unknown> {
  return dynamoDb.send(new GetCommand(accountAt('probe')), { abortSignal: signal });
}

export function toAccount(item: Item): Account {
  const pictureUrl = readOptionalText(item, 'picture_url');
  const storageLimitBytes = readOptionalNumber(item, 'storage_limit_bytes');
  const sentDay = readOptionalNumber(item, 'sent_day');
  return {
    id: readText(item, 'id'),
    email: readText(item, 'email'),
    name: readText(item, 'name'),
    ...(pictureUrl !== undefined && { pictureUrl }),
    createdAt: readNumber(item, 'created_at'),
    storageUsedBytes: readNumber(item, 'storage_used_bytes'),
    fileCount: readNumber(item, 'file_count'),
    nextSeq: readNumber(item, 'next_seq'),
    lastFileAt: readNumber(item, 'last_file_at'),
    removed: readRemoved(item),
    ...(sentDay !== undefined && { sent: { day: sentDay, bytes: readNumber(item, 'sent_bytes') } }),
    ...(storageLimitBytes !== undefined && { storageLimitBytes }),
    isSuspended: item.suspended !== undefined,
  };
}

function readRemoved(account: Item): Map<number, number> {
  const groups = Object.entries(readNumbers(account, 'removed') ?? {});
  return new Map(groups.map(([group, files]) => [Number(group), files]));
}
