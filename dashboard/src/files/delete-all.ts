import { FileHostingError, type FileRecord, type Wait } from '../../../clients/typescript/src/index.ts';
import { hosting } from '../api/client.ts';

const AT_ONCE = 4;

/** How often the deletion of a file is repeated after a failure. */
const RETRIES = 1;

export interface Deletion {
  /** The ids of the files that no longer exist, including those that were already deleted. */
  readonly deleted: ReadonlySet<string>;
  /** Why the other files were not deleted. */
  readonly failures: readonly FileHostingError[];
}

export interface DeletionOptions {
  /** When this signal is aborted, no further deletion starts. Deletions that have begun are not awaited, but may still succeed. */
  readonly signal: AbortSignal;
  /** Called with the number of deleted files. */
  readonly onProgress: (done: number) => void;
  /** Called when a deletion waits before its next request. */
  readonly onWait: (wait: Wait) => void;
}

/**
 * Deletes files, a few at a time and as fast as the rate limit allows.
 * @throws FileHostingError `unauthorized` when the session ends meanwhile.
 */
export async function deleteAll(
  files: readonly FileRecord[],
  { signal, onProgress, onWait }: DeletionOptions,
): Promise<Deletion> {
  const waiting = [...files];
  const failures: FileHostingError[] = [];
  const deleted = new Set<string>();
  const work = async () => {
    for (let file = waiting.shift(); file && !signal.aborted; file = waiting.shift()) {
      try {
        await hosting.delete(file.id, { signal, retries: RETRIES, onWait });
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof FileHostingError) || error.code === 'unauthorized') throw error;
        if (error.code !== 'not_found') {
          failures.push(error);
          continue;
        }
      }
      deleted.add(file.id);
      onProgress(deleted.size);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { deleted, failures };
}
