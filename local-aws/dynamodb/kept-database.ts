import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const BEGIN_ANEW =
  'restore the folder of the database from a backup, or remove DATA_DIR to begin anew without any file';

/**
 * Finds the database that the engine keeps in `directory`. An empty one in place of the former one would cost every object, because programs
 * remove objects that no row names. So a new database is made only where nothing is kept yet.
 * @param buckets  the folder of the objects that belong to the tables.
 * @returns the path of its file. @throws Error in one sentence when the database that was there is missing, damaged or of another engine.
 */
export async function openKeptDatabase(directory: string, buckets: string | undefined): Promise<string> {
  const file = join(directory, 'dynoxide.db');
  const older = (await readdir(directory)).find((name) => name.endsWith('_local.db'));
  if (older !== undefined) {
    throw new Error(
      `${join(directory, older)} is of DynamoDB Local, which no longer keeps data here: go on with the version that wrote it, or set DATA_DIR to another folder.`,
    );
  }
  if (!hasTables(file) && (await hasFiles(buckets))) {
    throw new Error(`${file} is missing or empty, but ${buckets} has objects: ${BEGIN_ANEW}.`);
  }
  return file;
}

/** Refuses an engine that has its tables only in memory where objects are kept. @throws Error in one sentence. */
export async function requireNoObjects(engine: string, directory: string, buckets: string | undefined): Promise<void> {
  const isKept = (await readdir(directory)).some((name) => name.endsWith('.db'));
  if (!isKept && !(await hasFiles(buckets))) return;
  throw new Error(
    `${engine} has its tables only in memory, but DATA_DIR has data of another start: set DATA_DIR to another folder, or remove it to begin anew.`,
  );
}

/** False when there is no database, or it is an empty file. @throws Error in one sentence when the file is no database. */
function hasTables(file: string): boolean {
  if (!existsSync(file)) return false;
  const database = new DatabaseSync(file);
  try {
    return database.prepare('SELECT 1 FROM sqlite_master LIMIT 1').get() !== undefined;
  } catch (error) {
    throw new Error(`${file} cannot be read (${(error as Error).message}): ${BEGIN_ANEW}.`);
  } finally {
    database.close();
  }
}

async function hasFiles(directory: string | undefined): Promise<boolean> {
  if (directory === undefined || !existsSync(directory)) return false;
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.some((entry) => entry.isFile());
}
