import { DeleteCommand, paginateQuery, paginateScan, type TransactWriteUpdate } from '@aws-sdk/lib-dynamodb';
import type { AdministrationStore, KeyMarkStore } from '../administration/administration-store.ts';
import { ACCOUNT_IS_OPEN, ACCOUNT_IS_SUSPENDED, accountAt } from './account-store.ts';
import { keyAt, keysOf } from './api-key-store.ts';
import { dynamoDb, failedCondition, type Item, readOptionalText, readText, tableName } from './dynamodb.ts';
import { LEAF_PREFIX } from './file-items.ts';
import { failedConditions, transact, writeItem } from './transactions.ts';

/** A transaction takes 100 items, and one of them is the account. */
const DELETIONS_PER_TRANSACTION = 99;
/** How long a command waits for other writers of an account. */
const PATIENCE_MS = 30_000;
const TRUE_VALUE = { ':yes': true };

/** {@link AdministrationStore} in DynamoDB; `account-store.ts` says what the attributes mean to other writers. */
export const administrationStore: AdministrationStore = {
  async idsOfEmail(email) {
    const pages = paginateScan(
      { client: dynamoDb },
      { TableName: tableName('accounts'), ConsistentRead: true, ProjectionExpression: 'id, email' },
    );
    const ids: string[] = [];
    for await (const { Items = [] } of pages) {
      const found = Items.filter((item) => readOptionalText(item, 'email')?.toLowerCase() === email.toLowerCase());
      ids.push(...found.map((item) => readText(item, 'id')));
    }
    return ids;
  },

  async suspend(id) {
    const found = await updateIf(id, {
      UpdateExpression: 'SET suspended = :yes',
      ConditionExpression: 'attribute_exists(id)',
      ExpressionAttributeValues: TRUE_VALUE,
    });
    return found === undefined;
  },

  async restore(id) {
    const found = await updateIf(id, {
      UpdateExpression: 'REMOVE suspended',
      ConditionExpression: 'attribute_exists(id) AND attribute_not_exists(deleting)',
    });
    if (found === undefined) return 'restored';
    return found.deleting ? 'being deleted' : 'absent';
  },

  async setStorageLimit(id, bytes) {
    const found = await updateIf(id, {
      UpdateExpression: bytes === undefined ? 'REMOVE storage_limit_bytes' : 'SET storage_limit_bytes = :bytes',
      ConditionExpression: 'attribute_exists(id)',
      ...(bytes !== undefined && { ExpressionAttributeValues: { ':bytes': bytes } }),
    });
    return found === undefined;
  },

  async beginDeletion(id) {
    const found = await updateIf(id, {
      UpdateExpression: 'SET suspended = :yes, deleting = :yes',
      ConditionExpression: 'attribute_exists(id)',
      ExpressionAttributeValues: TRUE_VALUE,
    });
    return found === undefined;
  },

  async removeRecords(id) {
    // The rows of the leaves are removed first. A seal is written only if the row of its leaf exists, so no seal is written after that.
    for (const prefix of [LEAF_PREFIX, '#']) {
      const rows = paginateQuery(
        { client: dynamoDb },
        {
          TableName: tableName('files'),
          ConsistentRead: true,
          ProjectionExpression: 'account_id, id',
          KeyConditionExpression: 'account_id = :account AND begins_with(id, :prefix)',
          ExpressionAttributeValues: { ':account': id, ':prefix': prefix },
        },
      );
      for await (const { Items = [] } of rows) await removeAll(id, tableName('files'), Items);
    }
    const records = paginateScan(
      { client: dynamoDb },
      {
        TableName: tableName('idempotency'),
        ConsistentRead: true,
        ProjectionExpression: 'id',
        FilterExpression: 'begins_with(id, :account)',
        ExpressionAttributeValues: { ':account': `${id}#` },
      },
    );
    for await (const { Items = [] } of records) await removeAll(id, tableName('idempotency'), Items);
  },

  async remove(id) {
    // The condition fails when an earlier attempt has removed the account, but its answer was lost. It fails even if a login has created
    // the account again since.
    const removal = new DeleteCommand({ ...accountAt(id), ConditionExpression: 'attribute_exists(deleting)' });
    await failedCondition(writeItem(() => dynamoDb.send(removal)));
  },
};

/** {@link KeyMarkStore} in DynamoDB. */
export const keyMarkStore: KeyMarkStore = {
  async *all(accountId) {
    for await (const { Items = [] } of paginateQuery({ client: dynamoDb }, keysOf(accountId))) {
      for (const item of Items) yield { hash: readText(item, 'key_hash'), id: readText(item, 'sk') };
    }
  },

  async mark(accountId, { hash }, isSuspended, deadline) {
    const account = {
      ...accountAt(accountId),
      ConditionExpression: isSuspended ? ACCOUNT_IS_SUSPENDED : ACCOUNT_IS_OPEN,
    };
    // Without this condition, the update would create a part of the row again if the key was revoked in the meantime.
    const key = { ...keyAt(hash), ConditionExpression: 'attribute_exists(pk)' };
    const change = isSuspended
      ? { UpdateExpression: 'SET suspended = :yes', ExpressionAttributeValues: TRUE_VALUE }
      : { UpdateExpression: 'REMOVE suspended' };
    try {
      await transact([{ ConditionCheck: account }, { Update: { ...key, ...change } }], deadline);
      return true;
    } catch (error) {
      const [ofAccount, ofKey] = failedConditions(error);
      if (ofAccount) return false;
      if (ofKey) return true;
      throw error;
    }
  },
};

/**
 * Removes records of an account that is being deleted. The condition fails in a transaction that arrives after the account was removed. So
 * such a transaction removes nothing of a new account with the same id.
 */
async function removeAll(accountId: string, table: string, keys: readonly Item[]): Promise<void> {
  const isBeingDeleted = { ...accountAt(accountId), ConditionExpression: 'attribute_exists(deleting)' };
  for (let from = 0; from < keys.length; from += DELETIONS_PER_TRANSACTION) {
    const some = keys.slice(from, from + DELETIONS_PER_TRANSACTION);
    const deletions = some.map((Key) => ({ Delete: { TableName: table, Key } }));
    await transact([{ ConditionCheck: isBeingDeleted }, ...deletions], commandDeadline());
  }
}

/**
 * Updates the row of an account, by a transaction of one item. All attempts of a transaction carry one token. So an attempt that arrives
 * late, after its retry, changes nothing. This holds even after the opposite command (`restore` after `suspend`).
 * @returns undefined when the update was made; else the row as the failed condition found it, or an empty item when there is no row.
 */
async function updateIf(id: string, update: Omit<TransactWriteUpdate, 'TableName' | 'Key'>): Promise<Item | undefined> {
  const row = { ...accountAt(id), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  try {
    await transact([{ Update: { ...row, ...update } }], commandDeadline());
    return undefined;
  } catch (error) {
    const [found] = failedConditions(error);
    if (found) return found;
    throw error;
  }
}

const commandDeadline = () => ({ deadlineAt: Date.now() + PATIENCE_MS });
