import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchWriteCommand,
  type BatchWriteCommandInput,
  DynamoDBDocumentClient,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../shared/aws/dynamodb.ts';
import { fileAttributes, fileKey, leafId } from '../../shared/aws/file-items.ts';
import type { TableName } from '../../shared/aws/tables.ts';
import type { ListedFile } from '../../shared/files/file.ts';
import { groupOf, leafOf } from '../../shared/files/listing-counters.ts';
import { newPublicKey } from '../../shared/files/object-key.ts';
import { uuidv7 } from '../../shared/ids.ts';

/** The size of every generated file, in bytes. */
export const GENERATED_FILE_BYTES = 7;

/** Generated files are created one second apart, the last one now. */
const INTERVAL_MS = 1_000;
const BATCH_ITEMS = 25;
const CONCURRENCY = 8;

type Tables = Readonly<Record<TableName, string>>;

/**
 * Writes the rows and books of `count` files for an account without files, as if they had been uploaded one after another,
 * but without objects. It writes directly to the tables, because uploads would take minutes.
 * @returns the files, newest first.
 */
export async function generateFiles(
  client: DynamoDBClient,
  tables: Tables,
  { accountId, count }: { accountId: string; count: number },
): Promise<ListedFile[]> {
  const now = Date.now();
  const files = Array.from({ length: count }, (_, index) =>
    generatedFile({ accountId, seq: index + 1, createdAt: now - (count - index - 1) * INTERVAL_MS }),
  );
  const seqRow = { ...fileKey({ accountId, id: '#seq' }), next: count, last_at: now };
  const documents = DynamoDBDocumentClient.from(client);
  await writeAll(documents, tables.files, [...files.map(readyItem), seqRow].map(put));
  await writeBooks(documents, tables, { accountId, before: files, files });
  return files.reverse();
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
  await writeBooks(documents, tables, { accountId: before[0]?.accountId ?? '', before, files });
  return files;
}

function generatedFile({ accountId, seq, createdAt }: Pick<ListedFile, 'accountId' | 'seq' | 'createdAt'>): ListedFile {
  return {
    accountId,
    id: uuidv7(createdAt),
    name: `photo-${seq}.jpeg`,
    mimeType: 'image/jpeg',
    sizeBytes: GENERATED_FILE_BYTES,
    objectKey: newPublicKey(),
    createdAt,
    seq,
  };
}

/** The row of a file as the settlement store writes it for a form upload. */
function readyItem(file: ListedFile): Item {
  const state = { state: 'ready', lane: 'multipart', seq: file.seq };
  return { ...fileKey(file), ...state, ...fileAttributes(file) };
}

type WriteRequest = NonNullable<BatchWriteCommandInput['RequestItems']>[string][number];

interface Books {
  readonly accountId: string;
  /** All files that ever had a counter: a counter stays, at zero, when the last file it counts is removed. */
  readonly before: readonly ListedFile[];
  readonly files: readonly ListedFile[];
}

async function writeBooks(
  client: DynamoDBDocumentClient,
  tables: Tables,
  { accountId, before, files }: Books,
): Promise<void> {
  const countBy = (indexOf: (seq: number) => number) => {
    const counters = new Map(before.map(({ seq }) => [indexOf(seq), 0]));
    for (const { seq } of files) counters.set(indexOf(seq), (counters.get(indexOf(seq)) ?? 0) + 1);
    return counters;
  };
  const leaves = [...countBy(leafOf)].map(([leaf, n]) => ({
    ...fileKey({ accountId, id: leafId(leaf) }),
    n: n,
  }));
  await writeAll(client, tables.files, leaves.map(put));
  await client.send(
    new UpdateCommand({
      TableName: tables.accounts,
      Key: { id: accountId },
      UpdateExpression: 'SET storage_used_bytes = :bytes, file_count = :files, #groups = :groups',
      ExpressionAttributeNames: { '#groups': 'groups' },
      ExpressionAttributeValues: {
        ':bytes': files.length * GENERATED_FILE_BYTES,
        ':files': files.length,
        ':groups': Object.fromEntries(countBy(groupOf)),
      },
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
