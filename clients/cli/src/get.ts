import { constants } from 'node:fs';
import { copyFile, type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { errorOf } from '../../typescript/src/answer.ts';
import { type FileHosting, FileHostingError, type FileRecord, type RetryOptions } from '../../typescript/src/index.ts';
import { dispatcherFor } from '../../typescript/src/proxy.ts';
import { retry, unlessAborted } from '../../typescript/src/retry.ts';
import { connectionError } from '../../typescript/src/send.ts';
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
    await (target === '-' ? print(file, calls) : save(file, target, force, calls));
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

/** Takes the bytes of a download, in their order. */
interface Sink {
  /** How many bytes it has. */
  readonly bytes: number;
  write(chunk: Uint8Array): Promise<void>;
  /** Forgets the bytes that it has. @throws Failure when it cannot. */
  restart(): Promise<void>;
}

async function print(file: FileRecord, calls: RetryOptions): Promise<void> {
  await download(file, await headOf(file, calls), streamSink(writeToStdout(calls.signal)), () => {}, calls);
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

function streamSink(write: (chunk: Uint8Array) => Promise<void>): Sink {
  let bytes = 0;
  return {
    get bytes() {
      return bytes;
    },
    async write(chunk) {
      await write(chunk);
      bytes += chunk.length;
    },
    async restart() {
      if (bytes > 0) throw new Failure('The connection was lost, and the file cannot be continued.', 'Try again.');
    },
  };
}

/**
 * Saves a file under a path. The bytes are first written beside it, under a name that is made of the id and the version of the file, where
 * the next call finds them if this one ends early. Two calls at the same time write the same bytes to the same places.
 */
async function save(file: FileRecord, target: string, force: boolean, calls: RetryOptions): Promise<void> {
  const kind = await kindOf(target);
  if (kind === 'folder') throw new Failure(`${target} is a folder.`, 'Give another --output.');
  if (kind === 'file' && !force) throw exists(target);
  const head = await headOf(file, calls);
  if (kind === 'device') {
    const device = await open(target, 'w');
    const write = async (chunk: Uint8Array) => void (await device.writeFile(chunk));
    await download(file, head, streamSink(write), () => {}, calls).finally(() => device.close());
    return;
  }
  const version = [file.id, head.etag ?? ''].join('-').replace(/[^\w-]/g, '');
  const partial = join(dirname(target), `file-hosting-${version}.part`);
  const item = { path: target, name: file.name, size: head.bytes };
  const report = progressOf([item]);
  calls.signal?.addEventListener('abort', () => report.end());
  const handle = await open(partial, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0));
  try {
    const sink = await fileSink(handle, head);
    await download(file, head, sink, (bytes) => report.sent(item, bytes), calls);
  } catch (error) {
    const { size } = await handle.stat();
    if (head.etag && size > 0) note(`${formatBytes(size)} are in ${printable(partial)}. The same command continues.`);
    else await rm(partial, { force: true });
    throw error;
  } finally {
    report.end();
    await handle.close();
  }
  await publish(partial, target, force);
  process.stdout.write(`${printable(target)}\n`);
}

async function fileSink(handle: FileHandle, { etag, bytes: total }: Head): Promise<Sink> {
  let { size: bytes } = await handle.stat();
  const restart = async () => {
    bytes = 0;
    await handle.truncate(0);
  };
  if (!etag || bytes > total) await restart();
  return {
    get bytes() {
      return bytes;
    },
    async write(chunk) {
      for (let at = 0; at < chunk.length; ) {
        at += (await handle.write(chunk, at, chunk.length - at, bytes + at)).bytesWritten;
      }
      bytes += chunk.length;
    },
    restart,
  };
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

interface Head {
  readonly bytes: number;
  /** Undefined when the answer has none that identifies the bytes. */
  readonly etag: string | undefined;
}

async function headOf(file: FileRecord, calls: RetryOptions): Promise<Head> {
  const { headers } = await retry(() => ask('HEAD', file.url, {}, calls.signal), calls);
  const etag = headers.get('ETag') ?? undefined;
  return {
    bytes: Number(headers.get('Content-Length') ?? file.size_bytes),
    etag: etag?.startsWith('"') ? etag : undefined,
  };
}

/** A download in which no byte arrives for this long counts as failed. */
const STALL_MS = 60_000;

/**
 * Downloads what a sink does not have yet. After a lost connection it continues where it was, as long as each attempt brings some bytes.
 * @throws FileHostingError, or Failure.
 */
async function download(
  { url }: FileRecord,
  { bytes: total, etag }: Head,
  sink: Sink,
  onBytes: (bytes: number) => void,
  calls: RetryOptions,
): Promise<void> {
  const attempt = async () => {
    onBytes(sink.bytes);
    if (sink.bytes === total && total > 0) return;
    if (!etag) await sink.restart();
    const stalled = new AbortController();
    let timer = setTimeout(() => stalled.abort(), STALL_MS);
    const signal = AbortSignal.any([stalled.signal, ...(calls.signal ? [calls.signal] : [])]);
    const range = etag && sink.bytes > 0 ? { Range: `bytes=${sink.bytes}-`, 'If-Range': etag } : undefined;
    try {
      const { status, body } = await ask('GET', url, range ?? {}, signal);
      if (range && status !== 206) await sink.restart();
      for await (const chunk of body ?? []) {
        clearTimeout(timer);
        await sink.write(chunk);
        onBytes(sink.bytes);
        timer = setTimeout(() => stalled.abort(), STALL_MS);
      }
    } catch (error) {
      calls.signal?.throwIfAborted();
      if (stalled.signal.aborted) throw new FileHostingError('stalled', { cause: error });
      throw error instanceof TypeError ? connectionError(error, true) : error;
    } finally {
      clearTimeout(timer);
    }
    if (sink.bytes !== total) throw new FileHostingError('network_error', { what: 'The connection was lost' });
  };
  for (let before = -1; ; before = sink.bytes) {
    try {
      return await retry(attempt, calls);
    } catch (error) {
      const isLost = error instanceof FileHostingError && error.isTemporary;
      if (!isLost || sink.bytes <= before) throw error;
    }
  }
}

/** @throws FileHostingError when there is no answer, or the service is busy; Failure for an answer that has no file. */
async function ask(
  method: 'GET' | 'HEAD',
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const options = {
    method,
    // With another encoding, a range would be one of the compressed bytes.
    headers: { 'Accept-Encoding': 'identity', ...headers },
    signal: signal ?? null,
    dispatcher: await dispatcherFor(url),
  };
  const response = await fetch(url, options as RequestInit).catch((error: Error) => {
    signal?.throwIfAborted();
    throw connectionError(error);
  });
  const { status } = response;
  if (status === 200 || status === 206) return response;
  await response.body?.cancel();
  if (status === 429 || status >= 500) {
    throw errorOf({ status, text: '', header: (name) => response.headers.get(name) }, undefined);
  }
  throw new Failure(
    `The link does not give the file (${status}).`,
    'The file may have been deleted: file-hosting list',
  );
}
