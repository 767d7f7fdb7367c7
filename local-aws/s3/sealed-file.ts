import { randomUUID } from 'node:crypto';
import { appendFile, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Algorithm, createDigest } from './checksums.ts';

/**
 * A sealed file holds content and its description: the content, then a record as JSON, then the length of the record in four
 * bytes. So one rename publishes both, and no reader ever sees one without the other.
 */
const LENGTH_BYTES = 4;
/** Large writes leave the thread pool free for the sockets. An upload takes about twice this much memory. */
const WRITE_BUFFER_BYTES = 1024 * 1024;

/** Content that is on disk under a name that no reader knows. */
export interface Draft {
  readonly path: string;
  readonly size: number;
  readonly digests: ReadonlyMap<Algorithm, Buffer>;
}

/**
 * Streams content to a new file, in constant memory.
 * @throws what `content` throws; the file is then deleted. If the process dies meanwhile, the file stays until the store is
 *   opened again.
 */
export async function writeDraft(
  directory: string,
  content: AsyncIterable<Uint8Array>,
  algorithms: readonly Algorithm[],
): Promise<Draft> {
  const path = join(directory, randomUUID());
  const digests = new Map(algorithms.map((algorithm) => [algorithm, createDigest(algorithm)]));
  // Opened before anything can fail: a stream that opens the file itself may do so after it was destroyed, and after `rm`.
  const file = await open(path, 'wx');
  let size = 0;
  try {
    await pipeline(
      Readable.from(content, { objectMode: true }),
      async function* (chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          size += chunk.length;
          for (const digest of digests.values()) digest.update(chunk);
          yield chunk;
        }
      },
      file.createWriteStream({ highWaterMark: WRITE_BUFFER_BYTES }),
    );
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  return { path, size, digests: new Map([...digests].map(([algorithm, digest]) => [algorithm, digest.digest()])) };
}

/** Appends the record. The file is then ready to be renamed to where readers look. */
export async function sealDraft(draft: Draft, record: object): Promise<void> {
  const json = Buffer.from(JSON.stringify(record));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.length);
  await appendFile(draft.path, Buffer.concat([json, length]));
}

export async function discardDraft(draft: Draft): Promise<void> {
  await rm(draft.path, { force: true });
}

/** The record of a sealed file; `undefined` when the file is incomplete because the machine lost power. */
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
