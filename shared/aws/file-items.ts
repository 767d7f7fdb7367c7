import type { FileRef, FileRow, ListedFile, StoredFile, Via } from '../files/file.ts';
import { shardOf } from '../files/shards.ts';
import { type Item, readNumber, readOptionalText, readText, tableName } from './dynamodb.ts';

/** The key of a row of the files table; `docs/architecture/row-shapes.ts` says what each row holds. */
export function fileKey({ accountId, id }: FileRef) {
  return { account_id: accountId, id };
}

export function fileAt(ref: FileRef) {
  return { TableName: tableName('files'), Key: fileKey(ref) };
}

export const LEAF_PREFIX = '#leaf#';
export const SEAL_PREFIX = '#names#';

/** The id of the row of a leaf. The ids sort like the leaves, so that the leaves of a group are one range. */
export function leafId(leaf: number): string {
  return LEAF_PREFIX + leafDigits(leaf);
}

/** The id of the seal of a leaf; seals sort like leaves. */
export function sealId(leaf: number): string {
  return SEAL_PREFIX + leafDigits(leaf);
}

/** Eleven digits suffice for 6.4 × 10^12 uploads of an account. */
const leafDigits = (leaf: number) => String(leaf).padStart(11, '0');

/** The number of the leaf that a row belongs to; undefined for a row whose id has another prefix. */
export function leafOfId(id: string, prefix = LEAF_PREFIX): number | undefined {
  return id.startsWith(prefix) ? Number(id.slice(prefix.length)) : undefined;
}

/** The partition of an account's rows in the index of unfinished work. */
export function workShard(accountId: string): string {
  return String(shardOf(accountId));
}

/** The row of a file; undefined for the other rows of an account, which have no `state`. */
export function toFileRow(item: Item): FileRow | undefined {
  const state = readOptionalText(item, 'state');
  if (state === undefined) return undefined;
  const via = readText(item, 'via') as Via;
  if (state === 'ready') return { ...toListedFile(item), state, via };
  const ref = { accountId: readText(item, 'account_id'), id: readText(item, 'id') };
  return { ...ref, state: 'deleting', via, objectKey: readText(item, 'object_key') };
}

/** A ready file, from its row or from the index by_seq. */
export function toListedFile(item: Item): ListedFile {
  return {
    accountId: readText(item, 'account_id'),
    id: readText(item, 'id'),
    name: readText(item, 'name'),
    mimeType: readText(item, 'mime_type'),
    sizeBytes: readNumber(item, 'size_bytes'),
    objectKey: readText(item, 'object_key'),
    createdAt: readNumber(item, 'created_at'),
    seq: readNumber(item, 'seq'),
  };
}

/** The attributes that the row of a file shares with the record of its `Idempotency-Key`. */
export function fileAttributes(file: StoredFile): Item {
  return {
    name: file.name,
    mime_type: file.mimeType,
    size_bytes: file.sizeBytes,
    object_key: file.objectKey,
    created_at: file.createdAt,
  };
}

/** Epoch milliseconds as text that sorts by time. */
export function sortableTime(time: number): string {
  return String(time).padStart(13, '0');
}
