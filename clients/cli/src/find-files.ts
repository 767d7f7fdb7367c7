import { createReadStream, fstatSync, type Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import type { UploadSource } from '../../typescript/src/index.ts';
import { Failure } from './failure.ts';
import { printable } from './terminal.ts';

/** What `upload` sends as one file. */
export interface LocalFile {
  /** The path as the user gave it, or the path of a file in a folder that the user gave; `-` for standard input. */
  readonly path: string;
  readonly name: string;
  /** In bytes; undefined for a pipe. */
  readonly size: number | undefined;
  open(): UploadSource;
}

export interface FindFlags {
  readonly recursive?: boolean;
  readonly name?: string;
}

type OnMissing = (path: string, error: unknown) => void;

const STANDARD_INPUT = '-';

/** The name of the file that standard input becomes, unless `--name` gives another. */
const PIPE_NAME = 'stdin';

/**
 * Finds the files to upload, in the order of the arguments; the files of a folder are sorted by path. The service keeps no folders, so a
 * file in a folder is uploaded under its own name. A symbolic link in a folder is followed only if its target is inside that folder. If all
 * links were followed, the author of a folder could make other files of this machine public. Sockets, pipes and links to folders in a
 * folder are skipped.
 * @param onMissing  called with each path that cannot be uploaded, and the reason; the search goes on after it.
 * @throws Failure when the command line is wrong.
 */
export async function findFiles(
  paths: readonly string[],
  flags: FindFlags,
  onMissing: OnMissing,
): Promise<LocalFile[]> {
  if (flags.name === '') throw wrongUse('--name is empty.');
  if (paths.filter((path) => path === STANDARD_INPUT).length > 1) throw wrongUse('Standard input (-) is given twice.');
  const found: LocalFile[] = [];
  for (const path of paths) {
    try {
      found.push(...(await findAt(path, flags, onMissing)));
    } catch (error) {
      if (error instanceof Failure && error.exitCode === 2) throw error;
      onMissing(path, error);
    }
  }
  const { name } = flags;
  if (name === undefined) return found;
  if (found.length > 1) throw wrongUse('--name is for one file, and there are several.');
  return found.map((file) => ({ ...file, name }));
}

const wrongUse = (message: string) => new Failure(message, 'Run: file-hosting upload --help', 2);

async function findAt(path: string, { recursive = false }: FindFlags, onMissing: OnMissing): Promise<LocalFile[]> {
  if (path === STANDARD_INPUT) {
    // Node reads nothing of a folder, without an error.
    if (fstatSync(process.stdin.fd).isDirectory())
      throw new Failure('It is a folder.', 'Give its path, and --recursive.');
    return [{ path, name: PIPE_NAME, size: undefined, open: () => process.stdin }];
  }
  const stats = await statOf(path);
  if (!stats.isDirectory()) return [fileAt(path, stats)];
  if (!recursive) throw wrongUse(`${printable(path)} is a folder. Add --recursive to upload the files in it.`);
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const inside = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  const root = (await realpath(path)).replace(/[\\/]?$/, sep);
  const files: LocalFile[] = [];
  let missing = 0;
  for (const one of inside.sort()) {
    try {
      const target = await statOf(one);
      // A link to a folder could lead in a circle; sockets and pipes in a folder have no content.
      if (!target.isFile()) continue;
      const isElsewhere = !(await realpath(one)).startsWith(root);
      if (isElsewhere) throw new Failure('It is a link to a file elsewhere.', 'To upload that file, give its path.');
      files.push(fileAt(one, target));
    } catch (error) {
      missing++;
      onMissing(one, error);
    }
  }
  if (files.length + missing === 0) throw new Failure(`There are no files in ${path}.`, 'Check the path.');
  return files;
}

async function statOf(path: string): Promise<Stats> {
  try {
    return await stat(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new Failure('There is no such file.', 'Check the path.');
    if (code === 'EACCES') throw new Failure('You have no permission to read it.', 'Check its permissions.');
    throw error;
  }
}

/** A path that is not a regular file, such as the pipe that a shell makes of `<(command)`, is sent as a stream. */
function fileAt(path: string, stats: Stats): LocalFile {
  const name = basename(path);
  if (stats.isFile()) return { path, name, size: stats.size, open: () => path };
  return { path, name, size: undefined, open: () => createReadStream(path) };
}
