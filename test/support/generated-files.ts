import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchWriteCommand,
  type BatchWriteCommandInput,
  DynamoDBDocumentClient,
  GetCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../shared/aws/dynamodb.ts';
import { fileAttributes, fileKey, leafId, sealId, workShard } from '../../shared/aws/file-items.ts';
import { sealAttributes } from '../../shared/aws/seal-store.ts';
import type { ListedFile } from '../../shared/files/file.ts';
import { bitOf, countBits, givenBits, groupOf, leafOf, seqsOfLeaf } from '../../shared/files/listing-counters.ts';
import { newObjectKey } from '../../shared/files/object-key.ts';
import { sealOf } from '../../shared/files/sealed-names.ts';
import { uuidv7 } from '../../shared/ids.ts';
import type { TableName } from '../../shared/tables.ts';

/** The size of every generated file, in bytes. */
export const GENERATED_FILE_BYTES = 7;

/** Generated files are created one second apart, the last one now. */
const INTERVAL_MS = 1_000;
const DAY_MS = 24 * 3_600_000;
const BATCH_ITEMS = 25;
const CONCURRENCY = 8;

type Tables = Readonly<Record<TableName, string>>;

interface Generated {
  readonly accountId: string;
  readonly count: number;
  /** The name of each file; by default `photo-<seq>.jpeg`. */
  readonly nameOf?: (seq: number) => string;
  /**
   * Chooses the files that get rows; by default all. The others are only in the books and seals, which is enough for a search that
   * finds none of them.
   */
  readonly hasRow?: (file: ListedFile) => boolean;
}

/**
 * Writes the rows, books and seals of `count` files for an account without files, as if they had been uploaded one after another. It writes
 * no objects. It writes directly to the tables, because uploads would take minutes.
 * @returns the files, newest first.
 */
export async function generateFiles(
  client: DynamoDBClient,
  tables: Tables,
  { accountId, count, nameOf = (seq) => `photo-${seq}.jpeg`, hasRow = () => true }: Generated,
): Promise<ListedFile[]> {
  const now = Date.now();
  const files = Array.from({ length: count }, (_, seq): ListedFile => {
    const createdAt = now - (count - seq - 1) * INTERVAL_MS;
    const ref = { accountId, id: uuidv7(createdAt), objectKey: newObjectKey() };
    return { ...ref, name: nameOf(seq), mimeType: 'image/jpeg', sizeBytes: GENERATED_FILE_BYTES, createdAt, seq };
  });
  const documents = DynamoDBDocumentClient.from(client);
  await writeAll(documents, tables.files, [...files.filter(hasRow).map(readyItem), ...sealsOf(files)].map(put));
  await writeBooks(documents, tables, { accountId, nextSeq: count, files });
  return files.reverse();
}

/** Writes leaves that the sweeper has to seal in a day. They belong to an account that does not exist. */
export async function generateWork(client: DynamoDBClient, tables: Tables, count: number): Promise<void> {
  const accountId = randomUUID();
  const due = { work_shard: workShard(accountId), work_due_at: Date.now() + DAY_MS };
  const leaves = Array.from({ length: count }, (_, leaf) =>
    put({ ...fileKey({ accountId, id: leafId(leaf) }), ...due }),
  );
  await writeAll(DynamoDBDocumentClient.from(client), tables.files, leaves);
}

/** Removes generated files again, as if they had been deleted one after another. @returns the files that remain. */
export async function removeFiles(
  client: DynamoDBClient,
  tables: Tables,
  { files: before, isRemoved }: { files: readonly ListedFile[]; isRemoved: (file: ListedFile) => boolean },
): Promise<ListedFile[]> {
  const files = before.filter((file) => !isRemoved(file));
  const removals = before.filter(isRemoved).map((file) => ({ DeleteRequest: { Key: fileKey(file) } }));
  const documents = DynamoDBDocumentClient.from(client);
  await writeAll(documents, tables.files, removals);
  const [{ accountId, seq } = { accountId: '', seq: -1 }] = before;
  await writeBooks(documents, tables, { accountId, nextSeq: seq + 1, files });
  return files;
}

/** The row of a file as the settlement store writes it for a form upload. */
function readyItem(file: ListedFile): Item {
  const state = { state: 'ready', via: 'form', seq: file.seq };
  return { ...fileKey(file), ...state, ...fileAttributes(file) };
}

/** The seals of the full leaves. */
function sealsOf(files: readonly ListedFile[]): Item[] {
  const last = files.at(-1)?.seq ?? -1;
  const leaves = [...Map.groupBy(files, ({ seq }) => leafOf(seq))].filter(([leaf]) => seqsOfLeaf(leaf).high <= last);
  return leaves.map(([leaf, own]) => {
    const { accountId } = own[0] as ListedFile;
    return { ...fileKey({ accountId, id: sealId(leaf) }), ...sealAttributes(sealOf(own)) };
  });
}

type WriteRequest = NonNullable<BatchWriteCommandInput['RequestItems']>[string][number];

interface Books {
  readonly accountId: string;
  readonly nextSeq: number;
  /** The files that are left. */
  readonly files: readonly ListedFile[];
}

async function writeBooks(
  client: DynamoDBDocumentClient,
  tables: Tables,
  { accountId, nextSeq, files }: Books,
): Promise<void> {
  const leaves = new Map<number, bigint>();
  for (let leaf = 0; leaf * LEAF_SEQS < nextSeq; leaf++) leaves.set(leaf, givenBits(nextSeq, leaf));
  for (const { seq } of files) leaves.set(leafOf(seq), (leaves.get(leafOf(seq)) ?? 0n) - bitOf(seq));
  const removed: Record<string, number> = {};
  const rows: Item[] = [];
  for (const [leaf, bits] of leaves) {
    if (bits === 0n) continue;
    const group = groupOf(leaf * LEAF_SEQS);
    removed[group] = (removed[group] ?? 0) + countBits(bits);
    const ref = { accountId, id: leafId(leaf) };
    rows.push({ ...fileKey(ref), removed: bits, work_shard: workShard(accountId), work_due_at: Date.now() + DAY_MS });
  }
  await writeAll(client, tables.files, rows.map(put));
  await client.send(
    new UpdateCommand({
      TableName: tables.accounts,
      Key: { id: accountId },
      UpdateExpression: `SET storage_used_bytes = :bytes, file_count = :files, removed = :removed,
        next_seq = :next, last_file_at = :now`,
      ExpressionAttributeValues: {
        ':bytes': files.length * GENERATED_FILE_BYTES,
        ':files': files.length,
        ':removed': removed,
        ':next': nextSeq,
        ':now': Date.now(),
      },
    }),
  );
}

const LEAF_SEQS = 64;
const LEAVES_PER_GROUP = 128;
/** The most leaves that are written for groups that are skipped entirely. Only an audit reads these leaves. */
const SKIPPED_LEAVES_MAX = 2_000;

/**
 * Makes the next file of an account have the seq `to`, as if the files before it had been uploaded and deleted. Beyond
 * 128,000 seqs at a time, an audit finds that leaves are missing.
 */
export async function skipSeqs(client: DynamoDBClient, tables: Tables, accountId: string, to: number): Promise<void> {
  const documents = DynamoDBDocumentClient.from(client);
  const { Item } = await documents.send(
    new GetCommand({ TableName: tables.accounts, Key: { id: accountId }, ConsistentRead: true }),
  );
  const from = Number(Item?.next_seq);
  if (from >= to) return;
  const removed = new Map(Object.entries((Item?.removed ?? {}) as Record<string, number>));
  const [first, last] = [leafOf(from), leafOf(to - 1)];
  const rows: Item[] = [];
  for (let leaf = first; leaf <= last; leaf++) {
    const bits = givenBits(to, leaf) & ~givenBits(from, leaf);
    const group = groupOf(leaf * LEAF_SEQS);
    const isGroupSkipped =
      from <= group * LEAVES_PER_GROUP * LEAF_SEQS && to >= (group + 1) * LEAVES_PER_GROUP * LEAF_SEQS;
    if (isGroupSkipped && last - first > SKIPPED_LEAVES_MAX) {
      const end = groupOf(to);
      removed.set(String(group), (end - group) * LEAVES_PER_GROUP * LEAF_SEQS);
      leaf = end * LEAVES_PER_GROUP - 1;
      continue;
    }
    removed.set(String(group), (removed.get(String(group)) ?? 0) + countBits(bits));
    if (leaf > first) rows.push({ ...fileKey({ accountId, id: leafId(leaf) }), removed: bits });
    else {
      await documents.send(
        new UpdateCommand({
          TableName: tables.files,
          Key: fileKey({ accountId, id: leafId(leaf) }),
          UpdateExpression: 'ADD removed :bits SET work_shard = :shard, work_due_at = :due',
          ExpressionAttributeValues: {
            ':bits': bits,
            ':shard': workShard(accountId),
            ':due': Date.now(),
          },
        }),
      );
    }
  }
  await writeAll(documents, tables.files, rows.map(put));
  await documents.send(
    new UpdateCommand({
      TableName: tables.accounts,
      Key: { id: accountId },
      UpdateExpression: 'SET next_seq = :to, removed = :removed',
      ExpressionAttributeValues: { ':to': to, ':removed': Object.fromEntries(removed) },
    }),
  );
}

const put = (item: Item): WriteRequest => ({ PutRequest: { Item: item } });

async function writeAll(
  client: DynamoDBDocumentClient,
  table: string,
  requests: readonly WriteRequest[],
): Promise<void> {
  const rest = [...requests];
  const writeRest = async () => {
    while (rest.length > 0) {
      const RequestItems = { [table]: rest.splice(0, BATCH_ITEMS) };
      const { UnprocessedItems } = await client.send(new BatchWriteCommand({ RequestItems }));
      if (Object.keys(UnprocessedItems ?? {}).length > 0) throw new Error('the engine did not write every row');
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, writeRest));
}
