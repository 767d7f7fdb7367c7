import { createReadStream, type Dirent, fstatSync, type Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import type { UploadSource } from '../../typescript/src/index.ts';
import { isLeftOut } from '../../typescript/src/left-out.ts';
import { openPath } from '../../typescript/src/open-path.ts';
import { Failure } from './failure.ts';
import { printable } from './terminal.ts';

/** What `upload` sends as one file. */
export interface LocalFile {
  /** The path as the user gave it, or the path of a file in a folder that the user gave; `-` for standard input. */
  readonly path: string;
  readonly name: string;
  /** In bytes; undefined for a pipe. */
  readonly size: number | undefined;
  /** True for a file in a folder that the user gave. */
  readonly isInFolder: boolean;
  open(): UploadSource | Promise<UploadSource>;
}

export interface FindFlags {
  readonly recursive?: boolean;
  readonly all?: boolean;
  readonly name?: string;
}

export interface Unsent {
  /** Called with each path that cannot be uploaded, and the reason; the search goes on after it. */
  missing(path: string, error: unknown): void;
  /** Called with each path in a folder that nobody means to upload. */
  leftOut(path: string): void;
}

const STANDARD_INPUT = '-';

/** The name of the file that standard input becomes, unless `--name` gives another. */
const PIPE_NAME = 'stdin';

/**
 * Finds the files to upload, in the order of the arguments; the files of a folder are sorted by path. The service keeps no folders, so a
 * file in a folder is uploaded under its own name. A symbolic link in a folder is followed only if its target is inside that folder. If all
 * links were followed, the author of a folder could make other files of this machine public. Sockets, pipes and links to folders in a
 * folder are skipped.
 * @throws Failure when the command line is wrong.
 */
export async function findFiles(paths: readonly string[], flags: FindFlags, unsent: Unsent): Promise<LocalFile[]> {
  if (flags.name === '') throw wrongUse('--name is empty.');
  if (paths.filter((path) => path === STANDARD_INPUT).length > 1) throw wrongUse('Standard input (-) is given twice.');
  const found: LocalFile[] = [];
  for (const path of paths) {
    try {
      found.push(...(await findAt(path, flags, unsent)));
    } catch (error) {
      if (error instanceof Failure && error.exitCode === 2) throw error;
      unsent.missing(path, error);
    }
  }
  const { name } = flags;
  if (name === undefined) return found;
  if (found.length > 1) throw wrongUse('--name is for one file, and there are several.');
  return found.map((file) => ({ ...file, name }));
}

export const wrongUse = (message: string) => new Failure(message, 'Run: file-hosting upload --help', 2);

async function findAt(path: string, flags: FindFlags, unsent: Unsent): Promise<LocalFile[]> {
  if (path === STANDARD_INPUT) {
    // Node reads nothing of a folder, without an error.
    if (fstatSync(process.stdin.fd).isDirectory())
      throw new Failure('It is a folder.', 'Give its path, and --recursive.');
    return [{ path, name: PIPE_NAME, size: undefined, isInFolder: false, open: () => process.stdin }];
  }
  const bytes = await bytesOf(path);
  const stats = await statOf(bytes);
  if (!stats.isDirectory()) return [fileAt(path, bytes, stats, false)];
  if (!flags.recursive) throw wrongUse(`${printable(path)} is a folder. Add --recursive to upload the files in it.`);
  const files: LocalFile[] = [];
  const ended = Buffer.from(sep);
  const target = await realpath(bytes, 'buffer');
  const root = target.subarray(-1).equals(ended) ? target : Buffer.concat([target, ended]);
  let others = 0;
  const counting: Unsent = {
    missing(one, error) {
      others++;
      unsent.missing(one, error);
    },
    leftOut(one) {
      others++;
      unsent.leftOut(one);
    },
  };
  for (const one of (await filesIn(bytes, flags, counting)).sort(Buffer.compare)) {
    const shown = join(one.toString());
    try {
      const found = await statOf(one);
      // A link to a folder could lead in a circle; sockets and pipes in a folder have no content.
      if (!found.isFile()) continue;
      const isInside = (await realpath(one, 'buffer')).subarray(0, root.length).equals(root);
      if (!isInside) throw new Failure('It is a link to a file elsewhere.', 'To upload that file, give its path.');
      files.push(fileAt(shown, one, found, true));
    } catch (error) {
      counting.missing(shown, error);
    }
  }
  if (files.length + others === 0) throw new Failure(`There are no files in ${path}.`, 'Check the path.');
  return files;
}

/** The paths of everything in a folder and in its folders that is no folder. Paths are bytes, because some names are not UTF-8. */
async function filesIn(folder: Buffer, flags: FindFlags, unsent: Unsent): Promise<Buffer[]> {
  let entries: Dirent<Buffer>[];
  try {
    entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    unsent.missing(folder.toString(), explained(error));
    return [];
  }
  const found: Buffer[] = [];
  for (const entry of entries) {
    const path = Buffer.concat([folder, Buffer.from(sep), entry.name]);
    if (!flags.all && isLeftOut(entry.name.toString())) unsent.leftOut(join(path.toString()));
    else if (entry.isDirectory()) found.push(...(await filesIn(path, flags, unsent)));
    else found.push(path);
  }
  return found;
}

/** What Node puts into a text for bytes that are not UTF-8. */
const REPLACEMENT = '\u{fffd}';

/**
 * The bytes of a path in the command line. Node has replaced the bytes that are not UTF-8, so the name is looked up in its folder.
 * @throws Failure when several names in the folder look the same.
 */
async function bytesOf(path: string): Promise<Buffer> {
  let bytes = Buffer.from('');
  for (const [at, part] of path.split(sep).entries()) {
    const start = at === 0 ? bytes : Buffer.concat([bytes, Buffer.from(sep)]);
    let name = Buffer.from(part);
    if (part.includes(REPLACEMENT)) {
      const names = await readdir(at === 0 ? '.' : start, { encoding: 'buffer' }).catch(() => []);
      const same = names.filter((one) => one.toString() === part);
      if (same.length > 1) {
        throw new Failure(
          'Several files have this name, except for bytes that are not UTF-8.',
          'Rename them, or give their folder.',
        );
      }
      name = same[0] ?? name;
    }
    bytes = Buffer.concat([start, name]);
  }
  return bytes;
}

async function statOf(path: Buffer): Promise<Stats> {
  try {
    return await stat(path);
  } catch (error) {
    throw explained(error);
  }
}

function explained(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return new Failure('There is no such file.', 'Check the path.');
  if (code === 'EACCES') return new Failure('You have no permission to read it.', 'Check its permissions.');
  return error;
}

/**
 * A path that is not a regular file, such as the pipe that a shell makes of `<(command)`, is sent as a stream. The client takes no path that
 * is not UTF-8, so such a file is opened here, as the client opens a path.
 */
function fileAt(path: string, bytes: Buffer, stats: Stats, isInFolder: boolean): LocalFile {
  const described = { path, name: basename(path), isInFolder };
  if (!stats.isFile()) return { ...described, size: undefined, open: () => createReadStream(bytes) };
  const isText = bytes.equals(Buffer.from(bytes.toString()));
  return { ...described, size: stats.size, open: () => (isText ? bytes.toString() : openPath(bytes)) };
}
