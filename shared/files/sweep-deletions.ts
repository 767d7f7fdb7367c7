import { eachOf } from '../each-of.ts';
import { undefinedIfNotFound } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { type DeletingStores, deleteFile } from './delete-file.ts';
import { type DeletionNote, NOTE_MS, NOTE_SHARDS } from './deletion-notes.ts';

export interface SweptDeletions {
  /** How many noted files still existed. This sweep has deleted them. */
  readonly deleted: number;
  /** Notes that could not be finished, and shards that could not be read; the next sweep tries them again. */
  readonly failed: number;
  /** When the oldest note that still had files, or that failed, was due, in epoch milliseconds; `now` if there was no such note. */
  readonly oldestDueAt: number;
}

/** A note is due after this long: nothing is added to it any more, and the functions that delete its files have ended. */
const DUE_AFTER_MS = NOTE_MS + 30_000;
const CONCURRENCY = 8;

/**
 * Repeats the noted deletions, then removes the notes. Usually the files are gone, and only the notes are left.
 *
 * The process may die at any step, and two sweeps may run at the same time: a deletion may be repeated, and a note stays if a deletion was
 * added after the note was read. A note that cannot be read delays only the later notes of its shard, and no other work of the sweeper.
 */
export async function sweepDeletions(
  stores: DeletingStores,
  { now, deadlineAt }: { now: number; deadlineAt: number },
): Promise<SweptDeletions> {
  let [deleted, failed, oldestDueAt] = [0, 0, now];
  const sweepShard = async (shard: number) => {
    for await (const note of stores.notes.begunBefore(shard, now - DUE_AFTER_MS)) {
      if (Date.now() >= deadlineAt) return;
      const repeated = await repeat(stores, note, deadlineAt);
      if (repeated === 'failed') failed++;
      else deleted += repeated;
      if (repeated !== 0) oldestDueAt = Math.min(oldestDueAt, note.begunAt + DUE_AFTER_MS);
    }
  };
  const sweepOrFail = (shard: number) =>
    sweepShard(shard).catch((error: unknown) => {
      failed++;
      log('error', 'notes of deletions not read; the next sweep reads them', { shard, ...describeError(error) });
    });
  await Promise.all(Array.from({ length: NOTE_SHARDS }, (_, shard) => sweepOrFail(shard)));
  return { deleted, failed, oldestDueAt };
}

/** @returns the number of files that were still there. */
async function repeat(stores: DeletingStores, note: DeletionNote, deadlineAt: number): Promise<number | 'failed'> {
  try {
    const deletions = await eachOf(note.fileIds, CONCURRENCY, async (id) => {
      const deletion = deleteFile(stores, { accountId: note.accountId, id }, { deadlineAt, isNoted: true });
      return deletion.then(() => true).catch(undefinedIfNotFound);
    });
    await stores.notes.remove(note);
    return deletions.filter(Boolean).length;
  } catch (error) {
    log('error', 'noted deletions not finished; they are tried again', describeError(error));
    return 'failed';
  }
}
