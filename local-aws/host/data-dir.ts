import { existsSync } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** SQLite's code for a lock that another process holds. */
const SQLITE_BUSY = 5;

/**
 * Creates the directory if it is missing, and locks out other instances until the lock is closed. The lock is one of the operating
 * system, taken through SQLite. So the lock ends with this process, even if the process is killed.
 * @throws Error in one sentence when the directory cannot be written or is in use.
 */
export async function lockDataDir(path: string): Promise<{ close(): void }> {
  try {
    await makeDirectory(path);
    const lock = new DatabaseSync(join(path, 'lock'));
    lock.exec('BEGIN EXCLUSIVE');
    return { close: () => lock.close() };
  } catch (error) {
    const { errcode, message } = error as { errcode?: number; message: string };
    if (errcode === SQLITE_BUSY)
      throw new Error(
        `DATA_DIR ${path} is in use by another running instance: stop it, or set DATA_DIR to another folder.`,
      );
    throw new Error(`DATA_DIR ${path} cannot be written: ${message}. Set DATA_DIR to a folder that can be.`);
  }
}

/** Makes the directory only for its owner, because files, tables and keys are in it. */
async function makeDirectory(path: string): Promise<void> {
  // On a read-only file system, `mkdir` would say that there is no such directory.
  let existing = path;
  while (!existsSync(existing)) existing = dirname(existing);
  await access(existing, constants.W_OK);
  await mkdir(path, { recursive: true, mode: 0o700 });
}
