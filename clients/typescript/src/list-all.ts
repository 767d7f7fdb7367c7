import type { FileRecord, FilesPage } from './types.ts';

/**
 * Reads all pages of a list, newest first. Pages are counted from the newest file, so files move between pages while others are added and
 * deleted. Nevertheless a file that exists during the whole loop is returned exactly once:
 * - An added file moves others to a later page, where they appear again. Files are in the order of `created_at`. So a file is skipped if it
 *   is newer than the last one, or was returned already with the same time.
 * - A deleted file moves others to an earlier page. They move by at most as many places as `total` has fallen, so reading goes back by
 *   that many places.
 */
export async function* listAll(
  readPage: (page: number) => Promise<FilesPage>,
): AsyncGenerator<FileRecord, void, undefined> {
  let last = '';
  /** The files that were returned and have the same time as the last one. */
  let seen = new Set<string>();
  let total: number | undefined;
  for (let page = 1; ; ) {
    const answer = await readPage(page);
    const deleted = (total ?? answer.total) - answer.total;
    total = answer.total;
    if (deleted > 0 && page > 1) {
      const offset = (page - 1) * answer.limit - deleted;
      page = Math.max(0, Math.floor(offset / answer.limit)) + 1;
      continue;
    }
    for (const file of answer.items) {
      if (last && (file.created_at > last || seen.has(file.id))) continue;
      if (file.created_at !== last) seen = new Set();
      last = file.created_at;
      seen.add(file.id);
      yield file;
    }
    if (answer.items.length < answer.limit) return;
    page++;
  }
}
