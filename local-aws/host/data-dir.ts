import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** SQLite's code for a lock that someone else holds. */
const SQLITE_BUSY = 5;

/**
 * Makes the directory if it is not there, and keeps every other instance out of it until it is closed. The lock is one
 * of the system's, held by way of SQLite: however this process dies, it is gone with it.
 * @throws Error in one sentence when the directory cannot be written or is in use.
 */
export async function lockDataDir(path: string): Promise<{ close(): void }> {
  try {
    // For its owner alone: files, books and keys are in it.
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
