import { Failure } from '../api/failure.ts';
import { pacedRequest } from '../api/request.ts';
import type { FileRecord } from '../api/types.ts';

const AT_ONCE = 4;

/**
 * Deletes files, a few at a time and as fast as the rate limit lets it.
 * @param onProgress  with how many are dealt with.
 * @returns why files were not deleted; one that is gone already counts as deleted.
 * @throws Failure `unauthorized` when the session ends meanwhile.
 */
export async function deleteAll(
  files: readonly FileRecord[],
  onProgress: (done: number) => void,
): Promise<readonly Failure[]> {
  const waiting = [...files];
  const failures: Failure[] = [];
  let done = 0;
  const work = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      await pacedRequest('DELETE', `/files/${file.id}`).catch((error: unknown) => {
        if (!(error instanceof Failure) || error.code === 'unauthorized') throw error;
        if (error.code !== 'not_found') failures.push(error);
      });
      onProgress(++done);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failures;
}
