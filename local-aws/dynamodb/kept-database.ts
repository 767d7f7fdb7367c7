import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ENGINE_REGION } from '../aws-front/dynamodb-engine.ts';
import { readKeptFile, writeKeptFile } from '../host/kept-file.ts';

const ID_BYTES = 16;

const BEGIN_ANEW =
  'restore the folder of the database from a backup, or remove DATA_DIR to begin anew without any file';

/**
 * Prepares the database that the engine keeps in `directory`. An empty one in place of the former one would cost every object, because programs
 * remove objects that no row names. So a new database is made only where nothing is kept yet.
 * @param buckets  the folder of the objects that belong to the tables.
 * @returns the access key id of the tables, which begins the name of the database.
 * @throws Error in one sentence when the id or the database that was there is missing or damaged.
 */
export async function openKeptDatabase(directory: string, buckets: string | undefined): Promise<string> {
  const idFile = join(directory, 'access-key-id');
  const others = (await readdir(directory)).filter((name) => /_.*\.db$/.test(name));
  const remedy =
    others.length > 0
      ? `write into it what the name of the database (${others.join(' or ')}) has before the "_"`
      : BEGIN_ANEW;
  const kept = await readKeptFile(idFile, parseId, remedy);
  if (kept === undefined && others.length > 0) throw new Error(`${idFile} is missing: ${remedy}.`);
  const id = kept ?? randomBytes(ID_BYTES).toString('hex');
  const database = join(directory, `${id}_${ENGINE_REGION}.db`);
  if (!existsSync(database) && others.length > 0) throw new Error(`${idFile} names no database: ${remedy}.`);
  if (!hasTables(database) && buckets !== undefined && (await hasFiles(buckets))) {
    const missing = kept === undefined ? idFile : database;
    throw new Error(`${missing} is missing or empty, but ${buckets} has objects: ${BEGIN_ANEW}.`);
  }
  await writeKeptFile(idFile, id);
  useWriteAheadLog(database);
  return id;
}

/** The engine takes letters and digits. @throws Error for any other text than {@link openKeptDatabase} writes. */
function parseId(text: string): string {
  const id = text.trim();
  if (!/^[0-9a-f]{32}$/.test(id)) throw new Error('not an id');
  return id;
}

/** False when there is no database, or it is as empty as a new one. @throws Error in one sentence when the file is no database. */
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

async function hasFiles(directory: string): Promise<boolean> {
  if (!existsSync(directory)) return false;
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.some((entry) => entry.isFile());
}

/**
 * Makes SQLite append each change to a log, and copy it into the database later. By default, SQLite writes each change twice for the engine
 * and waits for the disk each time. That takes four times as long. The mode is a property of the file and stays with it. On a file system
 * that cannot do this, the former mode stays.
 */
function useWriteAheadLog(file: string): void {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL');
  database.close();
}
