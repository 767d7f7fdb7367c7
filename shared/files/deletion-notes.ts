import type { FileRef } from './file.ts';

/**
 * A deletion is noted before it removes anything. The sweeper reads every note, and repeats the deletions in it. So a deletion is finished
 * even if its process dies (decision 0032).
 */

/** The files of one account whose deletion began in the same span of {@link NOTE_MS}. If there were many, a note has only some of them. */
export interface DeletionNote {
  /** The id of the note's row. */
  readonly id: string;
  readonly accountId: string;
  /** The beginning of the span, in epoch milliseconds. */
  readonly begunAt: number;
  readonly fileIds: readonly string[];
}

export interface DeletionNoteStore {
  /** Adds a file to a note of its account for the time `now`. May be repeated. */
  add(ref: FileRef, now: number): Promise<void>;

  /** The notes in one of the {@link NOTE_SHARDS} that began before `time`, the oldest first. */
  begunBefore(shard: number, time: number): AsyncIterable<DeletionNote>;

  /** Removes a note, unless a file was added to it since it was read. */
  remove(note: DeletionNote): Promise<void>;
}

/** Time is divided into spans of this length. Deletions of an account in one span share a note, which the sweeper removes by one write. */
export const NOTE_MS = 5_000;
/** A note with more files would be longer than 1 KB: then adding another file would cost more than one write unit. */
export const NOTE_FILES_MAX = 24;
/** Partitions of the notes. Each takes at most 1,000 writes a second. */
export const NOTE_SHARDS = 4;
