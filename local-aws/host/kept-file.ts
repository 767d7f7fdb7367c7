import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Small files of the data directory that later starts depend on. A kill or a loss of power at any moment leaves the old file or the new one. */

/**
 * @param parse  throws for content that the local AWS did not write.
 * @param remedy  says what to do with a damaged file, and what that costs.
 * @returns undefined when there is no file. @throws Error in one sentence that names the file when it cannot be read.
 */
export async function readKeptFile<Content>(
  path: string,
  parse: (text: string) => Content,
  remedy: string,
): Promise<Content | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Error(`${path} cannot be read: ${error.message}.`);
  });
  if (text === undefined) return undefined;
  try {
    return parse(text);
  } catch {
    // The message of a parser may quote the content, which may be a secret.
    throw new Error(`${path} is damaged: ${remedy}.`);
  }
}

/** Writes the file, readable only by this user, if its content changes. */
export async function writeKeptFile(path: string, text: string): Promise<void> {
  if ((await readFile(path, 'utf8').catch(() => undefined)) === text) return;
  const draft = `${path}.new`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  // Only a directory on disk has the new name.
  const directory = await open(dirname(path));
  await directory.sync().finally(() => directory.close());
}
