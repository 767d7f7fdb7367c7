import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Account, AccountStore } from '../accounts/account.ts';
import { dayOf } from '../accounts/allowance.ts';
import { required } from '../env.ts';
import {
  dynamoDb,
  dynamoDbOnce,
  type Item,
  readNumber,
  readNumbers,
  readOptionalNumber,
  readOptionalText,
  readText,
} from './dynamodb.ts';
import { writeItem } from './transactions.ts';

const tableName = required('ACCOUNTS_TABLE');

/**
 * {@link AccountStore} in DynamoDB: one row an account, with `email`, `name`, `picture_url`, `created_at` (epoch
 * milliseconds); `storage_used_bytes`, `file_count`, `key_count`, `groups` (a map: listing group → files) and
 * `books_revision` (absent: 0), which only transactions change; `sent_bytes` and the day they were sent on, `sent_day` (in
 * days since 1970), both absent at first; and what the operator sets (see `administration-store.ts`):
 * `storage_limit_bytes`; `suspended` and `deleting`, which are true or absent.
 */
export const accountStore: AccountStore = {
  async get(id) {
    const { Item } = await dynamoDb.send(
      new GetCommand({ TableName: tableName, Key: { id: id }, ConsistentRead: true }),
    );
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
    // The third, when the day was begun by another request between the first two.
    for (const change of [add, begin, add]) {
      const command = { TableName: tableName, Key: { id: id }, ...change };
      try {
        await writeItem(() => dynamoDbOnce.send(new UpdateCommand(command)));
        return;
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
      }
    }
  },

  async dropEmptyGroups(id, groups) {
    for (const group of groups) {
      try {
        await update(id, {
          UpdateExpression: 'REMOVE #groups.#group',
          // A file may have come into it since.
          ConditionExpression: '#groups.#group = :zero',
          ExpressionAttributeNames: { '#groups': 'groups', '#group': String(group) },
          ExpressionAttributeValues: { ':zero': 0 },
        });
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
      }
    }
  },
};

function update(id: string, input: Omit<UpdateCommandInput, 'TableName' | 'Key'>) {
  const command = { TableName: tableName, Key: { id: id }, ...input };
  return writeItem(() => dynamoDb.send(new UpdateCommand(command)));
}

/** An account's row, as the stores and failed conditions give it. */
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

/** Ready files by listing group, from an account's row. Groups without files may be missing. */
export function readGroups(account: Item): Map<number, number> {
  const groups = Object.entries(readNumbers(account, 'groups') ?? {});
  return new Map(groups.map(([group, files]) => [Number(group), files]));
}
