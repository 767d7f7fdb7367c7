import { eachOf } from '../each-of.ts';
import { ApiError } from '../errors.ts';
import type { ListedFile, ReadyFile, Ticket } from '../files/file.ts';
import { bitOf, countBits, givenBits, groupOf, leafOf, seqsOfLeaf } from '../files/listing-counters.ts';
import type { ObjectStore } from '../files/object-store.ts';
import { isReadable, NAME_SEPARATOR, sealOf } from '../files/sealed-names.ts';
import type { AuditStore, Books, RecordedBooks, Sealing } from './administration-store.ts';

export interface AuditingStores {
  readonly audit: AuditStore;
  readonly objects: Pick<ObjectStore, 'size'>;
}

type Total = 'storage used' | 'file count' | 'next seq' | 'time of the newest file';

/** One thing that the audit found wrong. */
export type Difference =
  | { readonly what: Total; readonly recorded: number; readonly computed: number }
  | { readonly what: 'group'; readonly index: number; readonly recorded: number; readonly computed: number }
  /** The bitmaps in hexadecimal digits. */
  | { readonly what: 'leaf'; readonly index: number; readonly recorded: string; readonly computed: string }
  | { readonly what: 'object'; readonly file: ReadyFile; readonly foundBytes: number | undefined }
  | { readonly what: 'listing'; readonly fileId: string }
  | { readonly what: 'seal'; readonly leaf: number }
  /** Another version of Unicode than ours folded the names of these leaves. Searches are right, but slower. */
  | { readonly what: 'unreadable seals'; readonly leaves: readonly number[] };

export interface Audit {
  readonly differences: Difference[];
  readonly recorded: RecordedBooks;
  readonly computed: Books;
}

const CONCURRENCY = 16;

/**
 * Compares an account's books with its rows, its seals with its rows, and its rows with the bucket. This checks the invariants I1, I3 to I5
 * and I15 of `docs/architecture.md`.
 *
 * If the books are right, and the owner neither uploads nor deletes meanwhile, the audit finds no differences. This holds even when the
 * sweeper still has work.
 *
 * The audit reads the books, each page of the rows and each object at different times. If files are added or deleted meanwhile, the report
 * proves nothing. It may have differences although the books are right, or none although the books are wrong. Therefore
 * {@link AuditStore.rewrite} compares `recorded.revision`, and refuses to write when the books have changed since they were read.
 * @throws ApiError `not_found` when there is no such account.
 */
export async function auditAccount(stores: AuditingStores, accountId: string): Promise<Audit> {
  const recorded = await stores.audit.books(accountId);
  if (!recorded) throw new ApiError('not_found');
  const rows = await Array.fromAsync(stores.audit.rows(accountId));
  const listed = await Array.fromAsync(stores.audit.listed(accountId));
  const sealing = await stores.audit.sealing(accountId);
  const ready = rows.filter((row) => row.state === 'ready');
  const tickets = await Array.fromAsync(stores.audit.tickets(accountId));
  const computed = computeBooks(tickets, ready, recorded);
  const objects = await eachOf(ready, CONCURRENCY, async (file): Promise<Difference[]> => {
    const foundBytes = await stores.objects.size(file.objectKey);
    return foundBytes === file.sizeBytes ? [] : [{ what: 'object', file, foundBytes }];
  });
  const differences = [
    ...compare('storage used', recorded.storageUsedBytes, computed.storageUsedBytes),
    ...compare('file count', recorded.fileCount, computed.fileCount),
    ...compare('next seq', recorded.nextSeq, computed.nextSeq),
    ...compare('time of the newest file', recorded.lastFileAt, computed.lastFileAt),
    ...compareEach(recorded.removedByGroup, computed.removedByGroup, 0, (index, counts) => ({
      what: 'group',
      index,
      ...counts,
    })),
    ...compareEach(recorded.removedByLeaf, computed.removedByLeaf, 0n, (index, bitmaps) => ({
      what: 'leaf',
      index,
      recorded: bitmaps.recorded.toString(16),
      computed: bitmaps.computed.toString(16),
    })),
    ...compareListing(listed, ready),
    ...compareSeals(sealing, ready, computed.nextSeq),
    ...objects.flat(),
  ];
  return { differences, recorded, computed };
}

/**
 * Computes the right books from the ready files and the reservations of pending tickets. A seq below the next seq belongs to a removed file
 * if no ready file has it.
 */
function computeBooks(tickets: readonly Ticket[], ready: readonly ReadyFile[], recorded: Books): Books {
  const reserved = tickets.flatMap(({ state, sizeBytes }) => (state === 'pending' ? sizeBytes : []));
  const nextSeq = ready.reduce((next, { seq }) => Math.max(next, seq + 1), recorded.nextSeq);
  return {
    storageUsedBytes: [...ready.map(({ sizeBytes }) => sizeBytes), ...reserved].reduce((sum, bytes) => sum + bytes, 0),
    fileCount: ready.length,
    nextSeq,
    lastFileAt: ready.reduce((last, { createdAt }) => Math.max(last, createdAt), recorded.lastFileAt),
    ...removedFiles(nextSeq, ready),
  };
}

function removedFiles(nextSeq: number, ready: readonly ReadyFile[]): Pick<Books, 'removedByGroup' | 'removedByLeaf'> {
  const readyBits = new Map<number, bigint>();
  for (const { seq } of ready) readyBits.set(leafOf(seq), (readyBits.get(leafOf(seq)) ?? 0n) | bitOf(seq));
  const removedByGroup = new Map<number, number>();
  const removedByLeaf = new Map<number, bigint>();
  for (let leaf = 0; seqsOfLeaf(leaf).low < nextSeq; leaf++) {
    const removed = givenBits(nextSeq, leaf) & ~(readyBits.get(leaf) ?? 0n);
    if (removed === 0n) continue;
    removedByLeaf.set(leaf, removed);
    const group = groupOf(seqsOfLeaf(leaf).low);
    removedByGroup.set(group, (removedByGroup.get(group) ?? 0) + countBits(removed));
  }
  return { removedByGroup, removedByLeaf };
}

function compare(what: Total, recorded: number, computed: number): Difference[] {
  return recorded === computed ? [] : [{ what, recorded, computed }];
}

function compareEach<Value>(
  recorded: ReadonlyMap<number, Value>,
  computed: ReadonlyMap<number, Value>,
  none: Value,
  toDifference: (index: number, values: { recorded: Value; computed: Value }) => Difference,
): Difference[] {
  return [...new Set([...recorded.keys(), ...computed.keys()])].flatMap((index) => {
    const values = { recorded: recorded.get(index) ?? none, computed: computed.get(index) ?? none };
    return values.recorded === values.computed ? [] : [toDifference(index, values)];
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

/**
 * Finds the leaves with a wrong seal. A full leaf that has files must have a seal, with the names of these files and no others. A leaf that
 * is not full must have none. While a leaf waits for the sweeper, its seal may be missing, or have names of deleted files as well. Names that
 * another version of Unicode folded cannot be compared.
 */
function compareSeals({ seals, unfinished }: Sealing, ready: readonly ReadyFile[], nextSeq: number): Difference[] {
  const files = Map.groupBy(ready, ({ seq }) => leafOf(seq));
  const isRight = (leaf: number) => {
    const seal = seals.get(leaf);
    const own = files.get(leaf) ?? [];
    const isFull = leaf < leafOf(nextSeq);
    if (!seal) return own.length === 0 || !isFull || unfinished.has(leaf);
    const expected = sealOf(own).names.split(NAME_SEPARATOR);
    const names = seal.names.split(NAME_SEPARATOR);
    const mayHave = (name: string, slot: number) =>
      name === expected[slot] || (expected[slot] === '' && unfinished.has(leaf));
    return isFull && names.length === expected.length && names.every(mayHave);
  };
  const leaves = [...new Set([...files.keys(), ...seals.keys()])];
  const unreadable = new Set([...seals].flatMap(([leaf, seal]) => (isReadable(seal) ? [] : leaf)));
  const wrong = leaves.filter((leaf) => !unreadable.has(leaf) && !isRight(leaf));
  const forgotten = [...unreadable].filter((leaf) => !unfinished.has(leaf));
  return [
    ...wrong.map((leaf): Difference => ({ what: 'seal', leaf })),
    ...(forgotten.length > 0 ? [{ what: 'unreadable seals', leaves: forgotten } as const] : []),
  ];
}
