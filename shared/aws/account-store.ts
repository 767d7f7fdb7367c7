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
 * Conditions on the row of an account. An account is suspended when its row has `suspended`, whatever the value; the same
 * goes for the rows of its keys, because a request with a key reads the row of the key and not that of the account. (Sessions
 * have no such mark: a suspension ends them.)
 */

/** The account exists and is not suspended, so it may be given a key, a session or a file. */
export const ACCOUNT_IS_OPEN = 'attribute_exists(id) AND attribute_not_exists(suspended)';
export const ACCOUNT_IS_SUSPENDED = 'attribute_exists(suspended)';

/** Where the row of an account is. */
export function accountAt(id: string) {
  return { TableName: tableName('accounts'), Key: { id } };
}

/**
 * {@link AccountStore} in DynamoDB, with one row for each account:
 * - its profile: `email`, `name`, `picture_url`, `created_at` (epoch milliseconds);
 * - its books, which only transactions change: `storage_used_bytes`, `file_count`, `key_count`, `groups` (a map of listing
 *   groups to their numbers of files), `books_revision` (absent: 0);
 * - the bytes sent on its last day with an upload: `sent_bytes`, `sent_day` (days since 1970); both absent before the first;
 * - what the operator sets (see `administration-store.ts`): `storage_limit_bytes`; `suspended` and `deleting`, which are true
 *   or absent.
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
        keep('#groups', ':none'),
      ].join(', ')} ${pictureUrl === undefined ? 'REMOVE picture_url' : ''}`,
      ExpressionAttributeNames: { '#name': 'name', '#groups': 'groups' },
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
    // The third is needed when another request begins the day between the first two.
    for (const change of [add, begin, add]) {
      const command = new UpdateCommand({ ...accountAt(id), ...change });
      if (!(await failedCondition(writeItem(() => dynamoDbOnce.send(command))))) return;
    }
  },

  async dropEmptyGroups(id, groups) {
    for (const group of groups) {
      const removal = update(id, {
        UpdateExpression: 'REMOVE #groups.#group',
        // It fails when a file has come into the group since; then the group stays.
        ConditionExpression: '#groups.#group = :zero',
        ExpressionAttributeNames: { '#groups': 'groups', '#group': String(group) },
        ExpressionAttributeValues: { ':zero': 0 },
      });
      await failedCondition(removal);
    }
  },
};

function update(id: string, input: Omit<UpdateCommandInput, 'TableName' | 'Key'>) {
  const command = new UpdateCommand({ ...accountAt(id), ...input });
  return writeItem(() => dynamoDb.send(command));
}

/** Reads a row that does not exist. @throws when the database does not answer before `signal`. */
export function probeDatabase(signal: AbortSignal): Promise<unknown> {
  return dynamoDb.send(new GetCommand(accountAt('probe')), { abortSignal: signal });
}

/** Reads the row of an account. */
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
    groups: readGroups(item),
    ...(sentDay !== undefined && { sent: { day: sentDay, bytes: readNumber(item, 'sent_bytes') } }),
    ...(storageLimitBytes !== undefined && { storageLimitBytes }),
    isSuspended: item.suspended !== undefined,
  };
}

/** The numbers of ready files by listing group, from the row of an account. A group without files may be missing. */
export function readGroups(account: Item): Map<number, number> {
  const groups = Object.entries(readNumbers(account, 'groups') ?? {});
  return new Map(groups.map(([group, files]) => [Number(group), files]));
}
