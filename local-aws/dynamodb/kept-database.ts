import { existsSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const BEGIN_ANEW =
  'restore the folder of the database from a backup, or remove DATA_DIR to begin anew without any file';

/** Says that the objects beside it belong to tables that were only in memory. */
const MARKER = 'in-memory';

/**
 * Finds the database that the engine keeps in `directory`. An empty one in place of the former one would cost every object, because programs
 * remove objects that no row names. So a new database is made only where nothing is kept yet.
 * @param buckets  the folder of the objects that belong to the tables.
 * @returns the path of its file. @throws Error in one sentence when the database that was there is missing, damaged or of another engine.
 */
export async function openKeptDatabase(directory: string, buckets: string | undefined): Promise<string> {
  const file = join(directory, 'dynoxide.db');
  await clearForgotten(directory, buckets);
  if (!hasTables(file) && (await hasFiles(buckets))) {
    throw new Error(`${file} is missing or empty, but ${buckets} has objects: ${BEGIN_ANEW}.`);
  }
  return file;
}

/**
 * Prepares a folder for an engine that has its tables only in memory. Its objects are removed by the next start.
 * @throws Error in one sentence when data is kept there.
 */
export async function beginInMemory(engine: string, directory: string, buckets: string | undefined): Promise<void> {
  await clearForgotten(directory, buckets);
  if ((await databasesIn(directory)).length > 0 || (await hasFiles(buckets))) {
    throw new Error(
      `${engine} has its tables only in memory, but ${dirname(directory)} has data of another start: set DATA_DIR to another folder.`,
    );
  }
  await writeFile(join(directory, MARKER), '');
}

/** Removes the objects whose tables were only in memory. @throws Error when the folder has the database of an older version. */
async function clearForgotten(directory: string, buckets: string | undefined): Promise<void> {
  const databases = await databasesIn(directory);
  const older = databases.find((name) => name.endsWith('_local.db'));
  if (older !== undefined) {
    throw new Error(
      `${join(directory, older)} is of DynamoDB Local, which no longer keeps data here: go on with the version that wrote it, or set DATA_DIR to another folder.`,
    );
  }
  if (databases.length > 0 || !existsSync(join(directory, MARKER))) return;
  if (buckets !== undefined) await rm(buckets, { recursive: true, force: true });
  await rm(join(directory, MARKER));
}

const databasesIn = async (directory: string) => (await readdir(directory)).filter((name) => name.endsWith('.db'));

/**
 * False when there is no database, or one without a table of DynamoDB: the engine makes such a file when the former one is missing. Names of
 * its own tables begin with "_".
 * @throws Error in one sentence when the file is no database.
 */
function hasTables(file: string): boolean {
  if (!existsSync(file)) return false;
  const database = new DatabaseSync(file);
  try {
    const ofDynamoDb =
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_*' AND name NOT GLOB 'sqlite_*'";
    return database.prepare(ofDynamoDb).get() !== undefined;
  } catch (error) {
    throw new Error(`${file} cannot be read (${(error as Error).message}): ${BEGIN_ANEW}.`);
  } finally {
    database.close();
  }
}

/** A link counts, because objects may be behind it. */
async function hasFiles(directory: string | undefined): Promise<boolean> {
  if (directory === undefined || !existsSync(directory)) return false;
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.some((entry) => !entry.isDirectory());
}
