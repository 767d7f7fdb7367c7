import { constants } from 'node:fs';
import { copyFile, type FileHandle, link, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import {
  type DownloadOptions,
  type FileHosting,
  FileHostingError,
  type FileRecord,
  type RetryOptions,
} from '../../typescript/src/index.ts';
import { unlessAborted } from '../../typescript/src/retry.ts';
import { Exit, Failure } from './failure.ts';
import { findFile, forEach } from './files.ts';
import { formatBytes } from './format.ts';
import { progressOf } from './progress.ts';
import { note, printable } from './terminal.ts';

export interface GetFlags {
  /** A file, a folder, or `-` for standard output. */
  readonly output?: string;
  readonly force?: boolean;
}

/** Downloads files, and prints where they were saved. */
export async function get(
  hosting: FileHosting,
  what: readonly string[],
  flags: GetFlags,
  calls: RetryOptions,
): Promise<void> {
  const { output = '.', force = false } = flags;
  const isFolder = output !== '-' && (await kindOf(output)) === 'folder';
  if ((what.length > 1 && output !== '-' && !isFolder) || (output.endsWith(sep) && !isFolder)) {
    throw new Failure(`${output} is not a folder.`, 'Give an existing folder as --output.', 2);
  }
  const getOne = async (one: string) => {
    const file = await findFile(hosting, one, calls);
    if (!/^https?:\/\//.test(file.url)) throw new Failure('The link does not begin with http:// or https://.', '');
    const target = isFolder ? join(output, localName(file.name)) : output;
    await (target === '-' ? print(hosting, file, calls) : save(hosting, file, target, force, calls));
  };
  if ((await forEach(what, getOne, (one) => one)) > 0) throw new Exit(1);
}

async function kindOf(path: string): Promise<'file' | 'folder' | 'device' | undefined> {
  try {
    const stats = await stat(path);
    return stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : 'device';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The names of devices in Windows, in every folder and with every extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * The name under which a file is saved. The name in the service is not trusted: it leads to no other folder, to no device, and makes no
 * hidden file, because programs take their settings from such files.
 */
export function localName(name: string): string {
  const shown = printable(name).replace(/[/\\\u{fffd}]/gu, '_');
  const safe = process.platform === 'win32' ? shown.replace(/[<>:"|?*]/g, '_').replace(/[. ]+$/, '') : shown;
  const visible = safe.replace(/^\.+/, '_');
  return !visible || DEVICE.test(visible) ? `_${visible}` : visible;
}

async function print(hosting: FileHosting, file: FileRecord, calls: RetryOptions): Promise<void> {
  const write = writeToStdout(calls.signal);
  for await (const chunk of hosting.download(file, calls)) await write(chunk);
}

/** A program that reads slowly, or no more, does not keep an aborted command running. */
function writeToStdout(signal: AbortSignal | undefined): (chunk: Uint8Array) => Promise<void> {
  return (chunk) => {
    const written = new Promise<void>((resolve, reject) => {
      process.stdout.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
    return unlessAborted(written, signal);
  };
}

/**
 * Saves a file under a path. The bytes are first written beside it, where the next call finds them if this one ends early. Two calls at the
 * same time write the same bytes to the same places.
 */
async function save(
  hosting: FileHosting,
  file: FileRecord,
  target: string,
  force: boolean,
  calls: RetryOptions,
): Promise<void> {
  const kind = await kindOf(target);
  if (kind === 'folder') throw new Failure(`${target} is a folder.`, 'Give another --output.');
  if (kind === 'file' && !force) throw exists(target);
  if (kind === 'device') {
    const device = await open(target, 'w');
    try {
      for await (const chunk of hosting.download(file, calls)) await device.writeFile(chunk);
    } finally {
      await device.close();
    }
    return;
  }
  const item = { path: target, name: file.name, size: file.size_bytes };
  const report = progressOf([item]);
  calls.signal?.addEventListener('abort', () => report.end());
  const partial = new PartialFile(file, dirname(target));
  try {
    const options = { ...calls, after: await partial.begun(), onStart: partial.start };
    for await (const chunk of hosting.download(file, options)) {
      await partial.write(chunk);
      report.sent(item, partial.bytes);
    }
    await partial.write(new Uint8Array());
  } catch (error) {
    const isChanged = error instanceof FileHostingError && error.code === 'unreadable';
    if (partial.isContinuable && !isChanged)
      note(`${formatBytes(partial.bytes)} are in ${printable(partial.path)}. The same command continues.`);
    else await rm(partial.path, { force: true });
    throw error;
  } finally {
    report.end();
    await partial.close();
  }
  await publish(partial.path, target, force);
  process.stdout.write(`${printable(target)}\n`);
}

/** A file that is not complete yet. Its name has the id and the ETag of the content, so that only the same content is added to it. */
class PartialFile {
  bytes = 0;
  readonly #folder: string;
  readonly #prefix: string;
  #etag: string | undefined;
  #handle: FileHandle | undefined;

  constructor({ id }: FileRecord, folder: string) {
    this.#folder = folder;
    this.#prefix = `file-hosting-${id.replace(/[^\w-]/g, '')}-`;
  }

  get path(): string {
    return join(this.#folder, `${this.#prefix}${this.#etag ?? ''}.part`);
  }

  get isContinuable(): boolean {
    return this.bytes > 0 && this.#etag !== undefined;
  }

  /** What an earlier call has received. */
  async begun(): Promise<DownloadOptions['after']> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      if (!name.startsWith(this.#prefix)) continue;
      const [etag = ''] = name.slice(this.#prefix.length).split('.part');
      if (!etag || name !== `${this.#prefix}${etag}.part`) continue;
      this.#etag = etag;
      this.bytes = (await stat(this.path)).size;
      return this.bytes > 0 ? { bytes: this.bytes, etag: `"${etag}"` } : undefined;
    }
    return undefined;
  }

  readonly start: DownloadOptions['onStart'] = ({ bytes, etag = '' }) => {
    this.bytes = bytes;
    this.#etag = /^"([\w-]+)"$/.exec(etag)?.[1];
  };

  async write(chunk: Uint8Array): Promise<void> {
    if (!this.#handle) {
      const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
      this.#handle = await open(this.path, flags);
      await this.#handle.truncate(this.bytes);
    }
    for (let at = 0; at < chunk.length; ) {
      at += (await this.#handle.write(chunk, at, chunk.length - at, this.bytes + at)).bytesWritten;
    }
    this.bytes += chunk.length;
  }

  async close(): Promise<void> {
    await this.#handle?.close();
  }
}

const exists = (path: string) =>
  new Failure(`${path} exists already.`, 'To replace it: --force. To save under another name: --output <path>');

/** Gives a file its name, in one step. @throws Failure when another file has got the name meanwhile. */
async function publish(partial: string, target: string, force: boolean): Promise<void> {
  if (force) return rename(partial, target);
  try {
    await link(partial, target).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') throw error;
      // Some file systems have no hard links.
      return copyFile(partial, target, constants.COPYFILE_EXCL);
    });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? exists(target) : error;
  }
  await rm(partial);
}
