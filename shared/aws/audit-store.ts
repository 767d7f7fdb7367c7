import {
  GetCommand,
  paginateQuery,
  paginateScan,
  QueryCommand,
  type QueryCommandInput,
  type TransactWriteItem,
  type TransactWriteUpdate,
} from '@aws-sdk/lib-dynamodb';
import type { AuditStore, Books, RecordedBooks } from '../administration/administration-store.ts';
import { removedByGroup } from '../files/listing-counters.ts';
import type { Seal } from '../files/sealed-names.ts';
import { accountAt, toAccount } from './account-store.ts';
import { sealNow } from './book-updates.ts';
import { dynamoDb, type Item, readOptionalNumber, readText, tableName } from './dynamodb.ts';
import { fileAt, LEAF_PREFIX, leafId, leafOfId, SEAL_PREFIX, sealId, toFileRow, toListedFile } from './file-items.ts';
import { toRemovedByLeaf } from './listing-store.ts';
import { toSeal } from './seal-store.ts';
import { ticketStore } from './ticket-store.ts';
import { failedConditions, transact } from './transactions.ts';

/** A transaction takes 100 items, and one of them is the account. */
const LEAVES_PER_TRANSACTION = 99;

/** {@link AuditStore} in DynamoDB. */
export const auditStore: AuditStore = {
  async *accountIds() {
    for await (const { Items = [] } of paginateScan({ client: dynamoDb }, { TableName: tableName('accounts') })) {
      for (const item of Items) yield readText(item, 'id');
    }
  },

  async *rows(accountId) {
    for await (const item of query(accountId, {})) {
      const row = toFileRow(item);
      if (row) yield row;
    }
  },

  tickets: (accountId) => ticketStore.ofAccount(accountId),

  async recent(accountId, count) {
    // The tickets are read before the files. So a ticket that becomes a file meanwhile is found as a file.
    const tickets = await Array.fromAsync(ticketStore.ofAccount(accountId));
    const command = new QueryCommand({
      TableName: tableName('files'),
      ConsistentRead: true,
      // This leaves out the rows of leaves and of seals. Their ids begin with `#`, which sorts before every digit.
      KeyConditionExpression: 'account_id = :account AND id >= :digits',
      ExpressionAttributeValues: { ':account': accountId, ':digits': '0' },
      ScanIndexForward: false,
      Limit: count,
    });
    const { Items = [] } = await dynamoDb.send(command);
    const files = Items.flatMap((item) => toFileRow(item) ?? []);
    const withoutFile = tickets.filter(({ id }) => files.every((file) => file.id !== id));
    // The order of ids is the order in which they were made.
    return [...files, ...withoutFile].sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, count);
  },

  async *listed(accountId) {
    for await (const item of query(accountId, { IndexName: 'by_seq' })) yield toListedFile(item);
  },

  async sealing(accountId) {
    const seals = new Map<number, Seal>();
    for await (const item of query(accountId, withPrefix(SEAL_PREFIX, accountId))) {
      const leaf = leafOfId(readText(item, 'id'), SEAL_PREFIX);
      if (leaf !== undefined) seals.set(leaf, toSeal(item));
    }
    const unfinished = new Set<number>();
    for await (const item of query(accountId, withPrefix(LEAF_PREFIX, accountId))) {
      const leaf = leafOfId(readText(item, 'id'));
      if (leaf !== undefined && item.work_due_at !== undefined) unfinished.add(leaf);
    }
    return { seals, unfinished };
  },

  async unseal(accountId, leaf, deadline) {
    const { TableName, Key } = fileAt({ accountId, id: sealId(leaf) });
    const items = [
      // If the account is deleted, the transaction must fail: otherwise it would leave a row of a leaf behind.
      { ConditionCheck: { ...accountAt(accountId), ConditionExpression: 'attribute_exists(id)' } },
      { Update: sealNow(accountId, leaf, Date.now()) },
      { Delete: { TableName, Key } },
    ];
    await transactIf(items, deadline);
  },

  async books(accountId) {
    const { Item } = await dynamoDb.send(new GetCommand({ ...accountAt(accountId), ConsistentRead: true }));
    if (!Item) return undefined;
    const account = toAccount(Item);
    return {
      storageUsedBytes: account.storageUsedBytes,
      fileCount: account.fileCount,
      nextSeq: account.nextSeq,
      lastFileAt: account.lastFileAt,
      removedByGroup: removedByGroup(account.removed),
      removedByLeaf: await readLeaves(accountId),
      revision: readOptionalNumber(Item, 'books_revision') ?? 0,
    };
  },

  // This writes the account and the leaves in one transaction, or in several when there are too many leaves. Each transaction compares the
  // revision in its condition, and raises the revision. As long as these transactions succeed, no other transaction has changed the account
  // or its leaves since they were read. If we die in between, or a condition fails, the remaining leaves stay wrong, and the next audit
  // finds them.
  async rewrite(accountId, found, computed, deadline) {
    const leaves = leafRewrites(accountId, found, computed);
    let expected = found;
    do {
      const some = leaves.splice(0, LEAVES_PER_TRANSACTION).map((update) => ({ Update: update }));
      const account = { Update: accountRewrite(accountId, expected, computed) };
      if (!(await transactIf([account, ...some], deadline))) return false;
      expected = { ...computed, nextSeq: found.nextSeq, revision: expected.revision + 1 };
    } while (leaves.length > 0);
    return true;
  },
};

/** @returns false when the condition on the first item failed. */
async function transactIf(items: TransactWriteItem[], deadline: { deadlineAt: number }): Promise<boolean> {
  try {
    await transact(items, deadline);
    return true;
  } catch (error) {
    if (failedConditions(error)[0]) return false;
    throw error;
  }
}

async function* query(accountId: string, input: Partial<QueryCommandInput>): AsyncGenerator<Item> {
  const pages = paginateQuery(
    { client: dynamoDb },
    {
      TableName: tableName('files'),
      ConsistentRead: true,
      KeyConditionExpression: 'account_id = :account',
      ExpressionAttributeValues: { ':account': accountId },
      ...input,
    },
  );
  for await (const { Items = [] } of pages) yield* Items;
}

function withPrefix(prefix: string, accountId: string) {
  return {
    KeyConditionExpression: 'account_id = :account AND begins_with(id, :prefix)',
    ExpressionAttributeValues: { ':account': accountId, ':prefix': prefix },
  };
}

async function readLeaves(accountId: string): Promise<Map<number, bigint>> {
  const items: Item[] = [];
  for await (const item of query(accountId, withPrefix(LEAF_PREFIX, accountId))) items.push(item);
  return toRemovedByLeaf(items);
}

function accountRewrite(accountId: string, found: RecordedBooks, computed: Books): TransactWriteUpdate {
  const isUnchanged = found.revision === 0 ? 'attribute_not_exists(books_revision)' : 'books_revision = :found';
  return {
    ...accountAt(accountId),
    UpdateExpression: `SET storage_used_bytes = :bytes, file_count = :files, next_seq = :next, last_file_at = :last,
      removed = :removed, books_revision = :revision`,
    ConditionExpression: `attribute_exists(id) AND ${isUnchanged}`,
    ExpressionAttributeValues: {
      ':bytes': computed.storageUsedBytes,
      ':files': computed.fileCount,
      ':next': computed.nextSeq,
      ':last': computed.lastFileAt,
      ':removed': Object.fromEntries(computed.removedByGroup),
      ':revision': found.revision + 1,
      ...(found.revision > 0 && { ':found': found.revision }),
    },
  };
}

/**
 * The updates of the leaves whose bitmaps are wrong. They need no conditions: every other transaction that changes a bitmap raises the
 * revision, which the update of the account compares.
 */
function leafRewrites(accountId: string, found: Books, computed: Books): TransactWriteUpdate[] {
  const leaves = [...new Set([...found.removedByLeaf.keys(), ...computed.removedByLeaf.keys()])];
  const bitsOf = (books: Books, leaf: number) => books.removedByLeaf.get(leaf) ?? 0n;
  const wrong = leaves.filter((leaf) => bitsOf(found, leaf) !== bitsOf(computed, leaf));
  return wrong.map((leaf) => ({
    ...fileAt({ accountId, id: leafId(leaf) }),
    UpdateExpression: 'SET removed = :bits',
    ExpressionAttributeValues: { ':bits': bitsOf(computed, leaf) },
  }));
}
