import { randomUUID } from 'node:crypto';
import { appendFileSync, createReadStream, openSync, statSync } from 'node:fs';
import { appendFile, type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline, type Readable, Transform } from 'node:stream';
import { FREE_BYTES, requireSpace } from '../host/disk.ts';
import { type Algorithm, createDigest } from './checksums.ts';

/**
 * A described file holds content and its description: the content, then a record as JSON, then the length of the record in four
 * bytes. So one rename publishes both, and no reader ever sees one without the other.
 */
const LENGTH_BYTES = 4;
/**
 * Content is written in pieces of this size, so that few writes occupy the thread pool. The last piece stays in memory
 * until the file is finished, so a small file is written by one call. An upload takes about twice this much memory.
 */
const PIECE_BYTES = 1024 * 1024;

/** To hand fewer bytes than this to the thread pool takes longer than to write them. */
const WRITTEN_AT_ONCE_BYTES = 64 * 1024;

/** Content in a file that is not published yet. All but its end is on disk. */
export interface Draft {
  readonly path: string;
  readonly size: number;
  readonly digests: ReadonlyMap<Algorithm, Buffer>;
  /** The end of the content, which is not written yet. */
  readonly end: readonly Uint8Array[];
}

/**
 * Streams content to a new file, in constant memory.
 * @throws what `content` throws, or DiskFull; the file is then deleted. If the process dies meanwhile, the file stays until the store is
 *   opened again.
 */
export async function writeDraft(
  directory: string,
  content: AsyncIterable<Uint8Array>,
  algorithms: readonly Algorithm[],
): Promise<Draft> {
  const digests = new Map(algorithms.map((algorithm) => [algorithm, createDigest(algorithm)]));
  const file = new PiecewiseFile(directory);
  let size = 0;
  try {
    for await (const chunk of content) {
      size += chunk.length;
      for (const digest of digests.values()) digest.update(chunk);
      await file.add(chunk);
    }
    const end = await file.close();
    const calculated = [...digests].map(([algorithm, digest]) => [algorithm, digest.digest()] as const);
    return { path: file.path, size, digests: new Map(calculated), end };
  } catch (error) {
    await file.remove();
    throw error;
  }
}

/** A new file to which pieces are written one after the other. While one is written, the next is collected. */
class PiecewiseFile {
  readonly path: string;
  readonly #directory: string;
  #file: FileHandle | undefined;
  #collected: Uint8Array[] = [];
  #collectedBytes = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(directory: string) {
    this.#directory = directory;
    this.path = join(directory, randomUUID());
  }

  /** @throws the error of the previous piece, when that piece could not be written. */
  async add(chunk: Uint8Array): Promise<void> {
    this.#collected.push(chunk);
    this.#collectedBytes += chunk.length;
    if (this.#collectedBytes < PIECE_BYTES) return;
    await this.#writing;
    requireSpace(this.#directory, FREE_BYTES.content);
    this.#file ??= await open(this.path, 'wx');
    this.#writing = writeAll(this.#file, this.#collected, this.#collectedBytes);
    // The write is awaited with the next piece; until then its failure must not count as unhandled.
    this.#writing.catch(() => {});
    this.#collected = [];
    this.#collectedBytes = 0;
  }

  /** @returns what was collected and not written. */
  async close(): Promise<readonly Uint8Array[]> {
    if (this.#collectedBytes > 0) requireSpace(this.#directory, FREE_BYTES.content);
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
    return this.#collected;
  }

  async remove(): Promise<void> {
    await this.#writing.catch(() => {});
    await this.#file?.close();
    await rm(this.path, { force: true });
  }
}

/** @throws Error when not all bytes could be written, for example because the disk is full. */
async function writeAll(file: FileHandle, chunks: readonly Uint8Array[], bytes: number): Promise<void> {
  const { bytesWritten } = await file.writev(chunks);
  if (bytesWritten < bytes) throw new Error(`only ${bytesWritten} of ${bytes} bytes could be written`);
}

/** Appends the end of the content and the record. The caller then renames the file to the path that readers open. */
export async function finishDraft({ path, end }: Draft, record: object): Promise<void> {
  const json = Buffer.from(JSON.stringify(record));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.length);
  const bytes = Buffer.concat([...end, json, length]);
  if (bytes.length < WRITTEN_AT_ONCE_BYTES) appendFileSync(path, bytes);
  else await appendFile(path, bytes);
}

export async function discardDraft(draft: Draft): Promise<void> {
  await rm(draft.path, { force: true });
}

/** @throws Error when something has cut or removed the file of a content of this size. */
export function requireWhole(path: string, size: number): void {
  const found = statSync(path).size;
  if (found < size) throw new Error(`The file ${path} has ${found} bytes, and should have ${size} and a record.`);
}

/**
 * The content of a described file, or a part of it. The file is opened at once, so the reader gets the same content when another file takes
 * its place meanwhile. When the file is cut meanwhile, the reader gets an error, because an end would look like all of the content.
 * @param part  its last byte is inclusive.
 * @throws Error as {@link requireWhole}.
 */
export function readContent(path: string, size: number, { first, last } = { first: 0, last: size - 1 }): Readable {
  requireWhole(path, size);
  let left = last - first + 1;
  const checked = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      done(null, chunk);
    },
    flush: (done) => done(left > 0 ? new Error(`The file ${path} was cut while it was read.`) : null),
  });
  const options = { fd: openSync(path, 'r'), start: first, end: last, highWaterMark: 256 * 1024 };
  // An error of the file destroys the reader's stream, too; a reader that stops early closes the file.
  pipeline(createReadStream(path, options), checked, () => {});
  return checked;
}

/** The record of a described file; `undefined` when the file is incomplete because the machine lost power. */
export async function readRecord(path: string): Promise<unknown> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const readAt = async (position: number, length: number) => {
      const buffer = Buffer.alloc(length);
      await file.read(buffer, 0, length, position);
      return buffer;
    };
    if (size < LENGTH_BYTES) return undefined;
    const length = (await readAt(size - LENGTH_BYTES, LENGTH_BYTES)).readUInt32BE();
    if (length > size - LENGTH_BYTES) return undefined;
    return JSON.parse((await readAt(size - LENGTH_BYTES - length, length)).toString());
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  } finally {
    await file.close();
  }
}
