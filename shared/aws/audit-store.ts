import {
  ConditionalCheckFailedException,
  GetItemCommand,
  paginateQuery,
  paginateScan,
  type QueryCommandInput,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { required } from '../env.ts';
import type { AuditStore, Books } from '../files/audit-store.ts';
import { counts, type Item, number, readCounts, readNumber, readText, text } from './attributes.ts';
import { dynamoDb } from './dynamodb.ts';
import { fileKey, leafId, toFileRow, toListedFile } from './file-items.ts';
import { toLeaves } from './listing-store.ts';
import { writeItem } from './transactions.ts';

const accountsTable = required('ACCOUNTS_TABLE');
const filesTable = required('FILES_TABLE');

/** {@link AuditStore} in DynamoDB. */
export const auditStore: AuditStore = {
  async *accountIds() {
    for await (const { Items = [] } of paginateScan({ client: dynamoDb }, { TableName: accountsTable })) {
      for (const item of Items) yield readText(item, 'id');
    }
  },

  async *rows(accountId) {
    for await (const item of query(accountId, {})) {
      const row = toFileRow(item);
      if (row) yield row;
    }
  },

  async *listed(accountId) {
    for await (const item of query(accountId, { IndexName: 'by_seq' })) yield toListedFile(item);
  },

  async books(accountId) {
    const { Item } = await dynamoDb.send(
      new GetItemCommand({ TableName: accountsTable, Key: { id: text(accountId) }, ConsistentRead: true }),
    );
    if (!Item) return undefined;
    const leaves = await readLeaves(accountId);
    return {
      storageUsedBytes: readNumber(Item, 'storage_used_bytes'),
      fileCount: readNumber(Item, 'file_count'),
      groups: readCounts(Item.groups),
      leaves,
    };
  },

  // First the account, under its condition: who changes it meanwhile makes us stop. Then the leaves, one by one, each
  // unless it changed: a file that comes or goes in between changes the leaf by itself. Whoever dies in between leaves
  // wrong leaves, which the next audit finds.
  async rewrite(accountId, found, computed) {
    try {
      await writeItem(() => dynamoDb.send(accountRewrite(accountId, found, computed)));
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
    for (const leaf of new Set([...found.leaves.keys(), ...computed.leaves.keys()])) {
      const [was, is] = [found.leaves.get(leaf), computed.leaves.get(leaf) ?? 0];
      if (was !== is) await rewriteLeaf(accountId, leaf, was, is);
    }
    return true;
  },
};

async function* query(accountId: string, input: Partial<QueryCommandInput>): AsyncGenerator<Item> {
  const pages = paginateQuery(
    { client: dynamoDb },
    {
      TableName: filesTable,
      ConsistentRead: true,
      KeyConditionExpression: 'account_id = :account',
      ExpressionAttributeValues: { ':account': text(accountId) },
      ...input,
    },
  );
  for await (const { Items = [] } of pages) yield* Items;
}

async function readLeaves(accountId: string): Promise<Map<number, number>> {
  const items: Item[] = [];
  const leaves = {
    KeyConditionExpression: 'account_id = :account AND begins_with(id, :leaf)',
    ExpressionAttributeValues: { ':account': text(accountId), ':leaf': text('#leaf#') },
  };
  for await (const item of query(accountId, leaves)) items.push(item);
  return toLeaves(items);
}

function accountRewrite(accountId: string, found: Books, computed: Books): UpdateItemCommand {
  return new UpdateItemCommand({
    TableName: accountsTable,
    Key: { id: text(accountId) },
    UpdateExpression: 'SET storage_used_bytes = :bytes, file_count = :files, #groups = :groups',
    ConditionExpression: 'storage_used_bytes = :foundBytes AND file_count = :foundFiles AND #groups = :foundGroups',
    ExpressionAttributeNames: { '#groups': 'groups' },
    ExpressionAttributeValues: {
      ':bytes': number(computed.storageUsedBytes),
      ':files': number(computed.fileCount),
      ':groups': counts(computed.groups),
      ':foundBytes': number(found.storageUsedBytes),
      ':foundFiles': number(found.fileCount),
      ':foundGroups': counts(found.groups),
    },
  });
}

async function rewriteLeaf(accountId: string, leaf: number, was: number | undefined, is: number): Promise<void> {
  const command = new UpdateItemCommand({
    TableName: filesTable,
    Key: fileKey({ accountId, id: leafId(leaf) }),
    UpdateExpression: 'SET n = :is',
    ConditionExpression: was === undefined ? 'attribute_not_exists(n)' : 'n = :was',
    ExpressionAttributeValues: { ':is': number(is), ...(was !== undefined && { ':was': number(was) }) },
  });
  try {
    await writeItem(() => dynamoDb.send(command));
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}
