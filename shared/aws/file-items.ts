import type { FileRef, FileRow, IdempotencyClaim, LeftoverRow, ListedFile, StoredFile, Via } from '../files/file.ts';
import { workShardOf } from '../files/work-store.ts';
import {
  type Item,
  readMap,
  readNumber,
  readOptionalNumber,
  readOptionalText,
  readSet,
  readText,
  tableName,
} from './dynamodb.ts';

/** The key of a row of the files table; `docs/architecture/row-shapes.ts` says what each row holds. */
export function fileKey({ accountId, id }: FileRef) {
  return { account_id: accountId, id };
}

/** Where the row of a file is. */
export function fileAt(ref: FileRef) {
  return { TableName: tableName('files'), Key: fileKey(ref) };
}

export const LEAF_PREFIX = '#leaf#';
export const SEAL_PREFIX = '#names#';
const IDS_PREFIX = '#ids#';

/** The letter before the digits of a long leaf number. It sorts after every digit. */
const LONG_MARK = 'a';

/**
 * The id of the row of a leaf. The ids sort like the leaves, so that the leaves of a group are one range: six digits below leaf
 * 1,000,000, from there on the letter `a` and eleven digits, which suffice for 6.4 × 10^12 uploads of an account. The names of
 * these rows are short because 128 of them are read for a page.
 */
export function leafId(leaf: number): string {
  return LEAF_PREFIX + leafDigits(leaf);
}

/** The id of the seal of a leaf; seals sort like leaves. */
export function sealId(leaf: number): string {
  return SEAL_PREFIX + leafDigits(leaf);
}

/** The id of the list of the ids of a leaf's files, which is written with its seal. */
export function idListId(leaf: number): string {
  return IDS_PREFIX + leafDigits(leaf);
}

function leafDigits(leaf: number): string {
  return leaf < 1_000_000 ? String(leaf).padStart(6, '0') : LONG_MARK + String(leaf).padStart(11, '0');
}

/** The number of the leaf that a row belongs to; undefined for a row whose id has another prefix. */
export function leafOfId(id: string, prefix = LEAF_PREFIX): number | undefined {
  return id.startsWith(prefix) ? Number(id.slice(prefix.length).replace(LONG_MARK, '')) : undefined;
}

/** Attributes that put a row into the index of unfinished work. */
export function workAttributes(ref: FileRef, dueAt: number): Item {
  return { work_shard: workShard(ref), work_due_at: dueAt };
}

export function workShard(ref: FileRef): string {
  return String(workShardOf(ref));
}

/** The row of a file; undefined for a listing counter. */
export function toFileRow(item: Item): FileRow | undefined {
  const state = readOptionalText(item, 'state');
  if (state === undefined) return undefined;
  const ref = { accountId: readText(item, 'account_id'), id: readText(item, 'id') };
  const via = readText(item, 'via') as Via;
  const attemptKeys = readSet(item, 'attempt_keys');
  const objectKey = readOptionalText(item, 'object_key');
  const ticketEndsAt = readOptionalNumber(item, 'ticket_ends_at');
  const ofTicket = { attemptKeys, ...(ticketEndsAt !== undefined && { ticketEndsAt }) };
  if (state === 'ready') return { ...toListedFile(item), state, via, ...ofTicket };
  if (state !== 'pending') {
    return { ...ref, state: state as LeftoverRow['state'], via, ...ofTicket, ...(objectKey && { objectKey }) };
  }
  const checksumSha256 = readOptionalText(item, 'checksum_sha256');
  const idempotency = readMap(item, 'idempotency');
  const attemptUntil = readOptionalNumber(item, 'attempt_until');
  return {
    ...ref,
    state,
    via: 'ticket',
    name: readText(item, 'name'),
    mimeType: readText(item, 'mime_type'),
    sizeBytes: readNumber(item, 'size_bytes'),
    attemptKeys,
    ticketEndsAt: readNumber(item, 'ticket_ends_at'),
    dueAt: readNumber(item, 'work_due_at'),
    ...(attemptUntil !== undefined && { attemptUntil }),
    ...(checksumSha256 !== undefined && { checksumSha256 }),
    ...(idempotency && { idempotency: toClaim(idempotency) }),
  };
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

/** What a file shows to its owner, as attributes of its row or of the record of an `Idempotency-Key`. */
export function fileAttributes(file: StoredFile): Item {
  return {
    name: file.name,
    mime_type: file.mimeType,
    size_bytes: file.sizeBytes,
    object_key: file.objectKey,
    created_at: file.createdAt,
  };
}

export function claimAttributes({ key, fingerprint, claimedAt }: IdempotencyClaim): Item {
  return { key, fingerprint, claimed_at: claimedAt };
}

function toClaim(item: Item): IdempotencyClaim {
  return {
    key: readText(item, 'key'),
    fingerprint: readText(item, 'fingerprint'),
    claimedAt: readNumber(item, 'claimed_at'),
  };
}
