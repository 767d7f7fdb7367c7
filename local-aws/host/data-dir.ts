import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
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
    // Only for its owner, because files, tables and keys are in it.
    await mkdir(path, { recursive: true, mode: 0o700 });
    const lock = new DatabaseSync(join(path, 'lock'));
    lock.exec('BEGIN EXCLUSIVE');
    return { close: () => lock.close() };
  } catch (error) {
    const { errcode, message } = error as { errcode?: number; message: string };
    if (errcode === SQLITE_BUSY) throw new Error(`DATA_DIR ${path} is in use by another running instance.`);
    throw new Error(`DATA_DIR ${path} cannot be written: ${message}.`);
  }
}
