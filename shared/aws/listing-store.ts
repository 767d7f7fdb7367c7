import { BatchGetCommand, type BatchGetCommandInput, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { LEAF_SEQS, leafOf, leavesOfGroup, positionOf, type SeqRange } from '../files/listing-counters.ts';
import type { FileAtSeq } from '../files/seal-leaf.ts';
import type { ListingStore } from '../files/stores.ts';
import { bytesOfUuid, UUID_BYTES, uuidOfBytes } from '../ids.ts';
import { dynamoDb, type Item, readBits, readBytes, readNumber, readText, tableName } from './dynamodb.ts';
import { fileKey, idListId, leafId, leafOfId, toFileRow, toListedFile } from './file-items.ts';

/**
 * {@link ListingStore} in DynamoDB. It reads the table of the files (rows of leaves, lists of ids, rows of files) and its local index
 * `by_seq`.
 */
export const listingStore: ListingStore = {
  async removedByLeaf(accountId, group) {
    const { first, last } = leavesOfGroup(group);
    // These are at most 128 items. Each has up to 80 bytes, or 110 while its leaf is due for a new seal. So they fit into one page, and
    // take at most four read units.
    const { Items = [] } = await dynamoDb.send(
      new QueryCommand({
        TableName: tableName('files'),
        ConsistentRead: true,
        KeyConditionExpression: 'account_id = :account AND id BETWEEN :first AND :last',
        ExpressionAttributeValues: {
          ':account': accountId,
          ':first': leafId(first),
          ':last': leafId(last),
        },
      }),
    );
    return toRemovedByLeaf(Items);
  },

  async files(accountId, range, { end, limit }) {
    const { Items = [], LastEvaluatedKey } = await dynamoDb.send(
      new QueryCommand({
        TableName: tableName('files'),
        IndexName: 'by_seq',
        ConsistentRead: true,
        KeyConditionExpression: 'account_id = :account AND seq BETWEEN :low AND :high',
        ExpressionAttributeValues: {
          ':account': accountId,
          ':low': range.low,
          ':high': range.high,
        },
        ScanIndexForward: end === 'oldest',
        Limit: limit,
      }),
    );
    const files = Items.map(toListedFile);
    const rest = LastEvaluatedKey && restAfter(range, readNumber(LastEvaluatedKey, 'seq'), end);
    return { files, ...(rest && { rest }) };
  },

  // One call can read a range of the index by_seq, but not several seqs that are far from each other. So this reads the lists of ids first,
  // then the rows. The lists are read eventually consistent, because the id at a seq never changes. The rows are read strongly, because a
  // file may have been deleted.
  async filesAt(accountId, seqs) {
    const leaves = [...new Set(seqs.map(leafOf))];
    const lists = await getAll({ Keys: leaves.map((leaf) => fileKey({ accountId, id: idListId(leaf) })) });
    const listOf = new Map(lists.map((item) => [readText(item, 'id'), readBytes(item, 'ids')]));
    const ids = seqs.flatMap((seq) => idAt(listOf.get(idListId(leafOf(seq))), seq) ?? []);
    const rows = await getAll({ Keys: ids.map((id) => fileKey({ accountId, id })), ConsistentRead: true });
    return rows.map(toFileRow).flatMap((row) => (row?.state === 'ready' ? row : []));
  },
};

/** Reads the items with these keys, in any order. Items that the database leaves out of its answer are missing. */
async function getAll(some: NonNullable<BatchGetCommandInput['RequestItems']>[string]): Promise<Item[]> {
  if (some.Keys?.length === 0) return [];
  const table = tableName('files');
  const { Responses = {} } = await dynamoDb.send(new BatchGetCommand({ RequestItems: { [table]: some } }));
  return Responses[table] ?? [];
}

/** The ids of the files of a leaf, as attributes of the row that lists them: 16 bytes for each seq, zeros where there is no file. */
export function idListAttributes(files: readonly FileAtSeq[]): Item {
  const ids = new Uint8Array(LEAF_SEQS * UUID_BYTES);
  for (const { id, seq } of files) ids.set(bytesOfUuid(id), positionOf(seq) * UUID_BYTES);
  return { ids };
}

function idAt(ids: Uint8Array | undefined, seq: number): string | undefined {
  const bytes = ids?.subarray(positionOf(seq) * UUID_BYTES, (positionOf(seq) + 1) * UUID_BYTES);
  return bytes?.some((byte) => byte !== 0) ? uuidOfBytes(bytes) : undefined;
}

/** What remains of a range after the file at `seq` was read; undefined when nothing remains. */
function restAfter({ low, high }: SeqRange, seq: number, end: 'newest' | 'oldest'): SeqRange | undefined {
  const rest = end === 'newest' ? { low, high: seq - 1 } : { low: seq + 1, high };
  return rest.low <= rest.high ? rest : undefined;
}

/** The bitmaps of removed files by leaf, from the rows of leaves among these items. */
export function toRemovedByLeaf(items: readonly Item[]): Map<number, bigint> {
  const leaves = new Map<number, bigint>();
  for (const item of items) {
    const leaf = leafOfId(readText(item, 'id'));
    if (leaf !== undefined) leaves.set(leaf, readBits(item, 'removed'));
  }
  return leaves;
}
