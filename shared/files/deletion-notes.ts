import type { FileRef } from './file.ts';

/**
 * Before anything of a file is removed, its deletion is noted. A deletion that dies is repeated by the sweeper, which reads every
 * note (decision 0032).
 */

/** The files of one account whose deletion began within {@link NOTE_MS}. */
export interface DeletionNote {
  readonly accountId: string;
  /** Epoch milliseconds; the beginning of the {@link NOTE_MS}. */
  readonly begunAt: number;
  readonly fileIds: readonly string[];
}

export interface DeletionNoteStore {
  /** Adds a file to the note of its account for the time `now`. Harmless twice. */
  add(ref: FileRef, now: number): Promise<void>;

  /** The notes of one of the {@link NOTE_SHARDS} that were begun before a time, the oldest first. */
  begunBefore(shard: number, time: number): AsyncIterable<DeletionNote>;

  /** Removes a note, unless a file was added to it since it was read. */
  remove(note: DeletionNote): Promise<void>;
}

/** Deletions of an account within this time share a note, which the sweeper removes by one write. */
export const NOTE_MS = 5_000;
/** Partitions of the notes. Each takes 1,000 writes a second. */
export const NOTE_SHARDS = 4;
