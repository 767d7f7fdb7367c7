import { eachOf } from '../each-of.ts';
import { ApiError } from '../errors.ts';
import type { FileRow, ListedFile, ReadyFile } from '../files/file.ts';
import { groupOf, leafOf } from '../files/listing-counters.ts';
import type { ObjectStore } from '../files/object-store.ts';
import type { AuditStore, Books, RecordedBooks } from './administration-store.ts';

export interface AuditingStores {
  readonly audit: AuditStore;
  readonly objects: Pick<ObjectStore, 'size'>;
}

/** One difference between what is recorded and what should be. */
export type Difference =
  | { readonly what: 'storage used' | 'file count'; readonly recorded: number; readonly computed: number }
  | { readonly what: 'group' | 'leaf'; readonly index: number; readonly recorded: number; readonly computed: number }
  | { readonly what: 'object'; readonly file: ReadyFile; readonly foundBytes: number | undefined }
  | { readonly what: 'listing'; readonly fileId: string };

export interface Audit {
  readonly differences: Difference[];
  readonly recorded: RecordedBooks;
  readonly computed: Books;
}

const CONCURRENCY = 16;

/**
 * Compares an account's books with its rows, and its rows with the bucket (invariants I1 and I3 to I5 of
 * `docs/architecture.md`). For an account in order it finds no differences, even when the sweeper still has work, as long as the
 * owner neither uploads nor deletes meanwhile.
 *
 * The books, each page of the rows and each object are read at different times. While files come and go, an account in order
 * may therefore show differences, and a wrong one may show none: such a report proves nothing. `recorded.revision` tells
 * whether the books have changed since they were read, and {@link AuditStore.rewrite} refuses to write then.
 * @throws ApiError `not_found` when there is no such account.
 */
export async function auditAccount(stores: AuditingStores, accountId: string): Promise<Audit> {
  const recorded = await stores.audit.books(accountId);
  if (!recorded) throw new ApiError('not_found');
  const rows = await Array.fromAsync(stores.audit.rows(accountId));
  const listed = await Array.fromAsync(stores.audit.listed(accountId));
  const ready = rows.filter((row) => row.state === 'ready');
  const computed = computeBooks(rows, ready);
  const objects = await eachOf(ready, CONCURRENCY, async (file): Promise<Difference[]> => {
    const foundBytes = await stores.objects.size(file.objectKey);
    return foundBytes === file.sizeBytes ? [] : [{ what: 'object', file, foundBytes }];
  });
  const differences = [
    ...compare('storage used', recorded.storageUsedBytes, computed.storageUsedBytes),
    ...compare('file count', recorded.fileCount, computed.fileCount),
    ...compareCounts('group', recorded.groups, computed.groups),
    ...compareCounts('leaf', recorded.leaves, computed.leaves),
    ...compareListing(listed, ready),
    ...objects.flat(),
  ];
  return { differences, recorded, computed };
}

/** The right books: those of ready files and of the reservations of pending tickets. */
function computeBooks(rows: readonly FileRow[], ready: readonly ReadyFile[]): Books {
  const reserved = rows.flatMap((row) => (row.state === 'pending' && row.via === 'ticket' ? row.sizeBytes : []));
  return {
    storageUsedBytes: [...ready.map(({ sizeBytes }) => sizeBytes), ...reserved].reduce((sum, bytes) => sum + bytes, 0),
    fileCount: ready.length,
    groups: countBy(ready, ({ seq }) => groupOf(seq)),
    leaves: countBy(ready, ({ seq }) => leafOf(seq)),
  };
}

function countBy(files: readonly ReadyFile[], indexOf: (file: ReadyFile) => number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const file of files) counts.set(indexOf(file), (counts.get(indexOf(file)) ?? 0) + 1);
  return counts;
}

function compare(what: 'storage used' | 'file count', recorded: number, computed: number): Difference[] {
  return recorded === computed ? [] : [{ what, recorded, computed }];
}

function compareCounts(
  what: 'group' | 'leaf',
  recorded: ReadonlyMap<number, number>,
  computed: ReadonlyMap<number, number>,
): Difference[] {
  return [...new Set([...recorded.keys(), ...computed.keys()])].flatMap((index) => {
    const counts = { recorded: recorded.get(index) ?? 0, computed: computed.get(index) ?? 0 };
    return counts.recorded === counts.computed ? [] : [{ what, index, ...counts }];
  });
}

function compareListing(listed: readonly ListedFile[], ready: readonly ReadyFile[]): Difference[] {
  const isListed = new Set(listed.map(({ id }) => id));
  const isReady = new Set(ready.map(({ id }) => id));
  const onlyInOne = [
    ...[...isListed].filter((id) => !isReady.has(id)),
    ...[...isReady].filter((id) => !isListed.has(id)),
  ];
  return onlyInOne.map((fileId) => ({ what: 'listing', fileId }));
}
