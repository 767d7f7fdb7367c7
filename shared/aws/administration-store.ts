import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, paginateQuery, paginateScan, type TransactWriteUpdate } from '@aws-sdk/lib-dynamodb';
import type { AdministrationStore } from '../administration/administration-store.ts';
import { required } from '../env.ts';
import { dynamoDb, type Item, readOptionalText, readText } from './dynamodb.ts';
import { failedConditions, transact, writeItem } from './transactions.ts';

const accountsTable = required('ACCOUNTS_TABLE');
const filesTable = required('FILES_TABLE');
const idempotencyTable = required('IDEMPOTENCY_TABLE');

/** As many as a transaction takes (100 items) beside the account. */
const DELETIONS_PER_TRANSACTION = 99;
/** How long a command waits for other writers of an account. */
const PATIENCE_MS = 30_000;
const YES = { ':yes': true };

/** {@link AdministrationStore} in DynamoDB; `account-conditions.ts` says what the attributes mean to others. */
export const administrationStore: AdministrationStore = {
  async idsOfEmail(email) {
    const pages = paginateScan(
      { client: dynamoDb },
      { TableName: accountsTable, ConsistentRead: true, ProjectionExpression: 'id, email' },
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
      ExpressionAttributeValues: YES,
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
      ExpressionAttributeValues: YES,
    });
    return found === undefined;
  },

  async removeRecords(id) {
    const counters = paginateQuery(
      { client: dynamoDb },
      {
        TableName: filesTable,
        ConsistentRead: true,
        ProjectionExpression: 'account_id, id',
        KeyConditionExpression: 'account_id = :account AND begins_with(id, :counter)',
        ExpressionAttributeValues: { ':account': id, ':counter': '#' },
      },
    );
    for await (const { Items = [] } of counters) await removeAll(id, filesTable, Items);
    const claims = paginateScan(
      { client: dynamoDb },
      {
        TableName: idempotencyTable,
        ConsistentRead: true,
        ProjectionExpression: 'id',
        FilterExpression: 'begins_with(id, :account)',
        ExpressionAttributeValues: { ':account': `${id}#` },
      },
    );
    for await (const { Items = [] } of claims) await removeAll(id, idempotencyTable, Items);
  },

  async remove(id) {
    const command = {
      TableName: accountsTable,
      Key: { id: id },
      ConditionExpression: 'attribute_exists(deleting)',
    };
    try {
      await writeItem(() => dynamoDb.send(new DeleteCommand(command)));
    } catch (error) {
      // Gone already, by an attempt of ours whose answer was lost; or made anew since, by a login.
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  },
};

/** While the account is being deleted: a deletion that arrives late spares what an account that was made anew has written. */
async function removeAll(accountId: string, table: string, keys: readonly Item[]): Promise<void> {
  const isBeingDeleted = {
    TableName: accountsTable,
    Key: { id: accountId },
    ConditionExpression: 'attribute_exists(deleting)',
  };
  for (let from = 0; from < keys.length; from += DELETIONS_PER_TRANSACTION) {
    const some = keys.slice(from, from + DELETIONS_PER_TRANSACTION);
    const deletions = some.map((Key) => ({ Delete: { TableName: table, Key } }));
    await transact([{ ConditionCheck: isBeingDeleted }, ...deletions], inTime());
  }
}

/**
 * A transaction though it is one item, for the token that all its attempts carry: an attempt that was given up, and arrives
 * after its retry and a contrary command (`restore` after `suspend`), changes nothing any more.
 * @returns the row as it was when the condition failed (empty when there is none); undefined when the update was made.
 */
async function updateIf(id: string, update: Omit<TransactWriteUpdate, 'TableName' | 'Key'>): Promise<Item | undefined> {
  const key = {
    TableName: accountsTable,
    Key: { id: id },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  } as const;
  try {
    await transact([{ Update: { ...key, ...update } }], inTime());
    return undefined;
  } catch (error) {
    const [found] = failedConditions(error);
    if (found) return found;
    throw error;
  }
}

const inTime = () => ({ deadlineAt: Date.now() + PATIENCE_MS });
