import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { Algorithm, Checksum } from './checksums.ts';
import {
  type Draft,
  discardDraft,
  finishDraft,
  readContent,
  readRecord,
  requireWhole,
  writeDraft,
} from './described-file.ts';

export interface StoredObject {
  readonly key: string;
  /** The size of the content in bytes. */
  readonly size: number;
  /** The ETag without its quotes. */
  readonly etag: string;
  /** When the object was created, in milliseconds since 1970. */
  readonly lastModified: number;
  /** The headers that come back with the content: `content-type`, `content-disposition`, `x-amz-meta-*` and the like. */
  readonly headers: Readonly<Record<string, string>>;
  readonly checksum?: Checksum;
}

/** First and last byte, both inclusive. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The objects of one bucket, on disk.
 *
 * A file is named after the SHA-256 of its key. So any key fits, and none can leave the directory. Keys that differ only in case stay apart
 * even on file systems that ignore case. An index of all objects is read when the store opens and kept in memory. Every change is one
 * synchronous step (check, rename or unlink, index), so two requests cannot interleave. A process that dies before the rename has changed
 * nothing: it leaves only a draft, which the next start removes. There is no fsync: what was acknowledged survives a crash of the
 * process, but not a crash of the machine.
 */
export class BucketFiles {
  readonly #objects: string;
  readonly #drafts: string;
  readonly #index: Map<string, StoredObject>;
  /** When the keys were deleted that have no object. It is forgotten with the process. */
  readonly #deletedAt = new Map<string, number>();
  #lastMoment = 0;
  #sortedKeys: string[] | undefined;

  private constructor(directory: string, index: Map<string, StoredObject>) {
    this.#objects = join(directory, 'objects');
    this.#drafts = join(directory, 'drafts');
    this.#index = index;
  }

  /** Opens the store in that directory, and creates it when absent. Only one process at a time may have it open. */
  static async open(directory: string): Promise<BucketFiles> {
    await rm(join(directory, 'drafts'), { recursive: true, force: true });
    await mkdir(join(directory, 'drafts'), { recursive: true });
    await mkdir(join(directory, 'objects'), { recursive: true });
    return new BucketFiles(directory, await readIndex(join(directory, 'objects')));
  }

  find(key: string): StoredObject | undefined {
    return this.#index.get(key);
  }

  /** The time in epoch milliseconds, but later than every moment before, so that it tells which of two events was first. */
  moment(): number {
    this.#lastMoment = Math.max(Date.now(), this.#lastMoment + 1);
    return this.#lastMoment;
  }

  /** The moment at which the object of that key was written or deleted last; 0 when that is not known. */
  changedAt(key: string): number {
    return this.#index.get(key)?.lastModified ?? this.#deletedAt.get(key) ?? 0;
  }

  /**
   * The content of an existing object, or a part of it. The reader gets the same content when the object is replaced or deleted meanwhile.
   * @throws Error when something has cut or removed the file.
   */
  content({ key, size }: StoredObject, range?: ByteRange): Readable {
    return size === 0 ? Readable.from([]) : readContent(this.#path(key), size, range);
  }

  /** @throws Error when something has cut or removed the file of the object. */
  requireWhole({ key, size }: StoredObject): void {
    requireWhole(this.#path(key), size);
  }

  /** Stores content as a draft, invisible until {@link publish}. The caller publishes the draft or discards it. */
  receive(content: AsyncIterable<Uint8Array>, algorithms: readonly Algorithm[]): Promise<Draft> {
    return writeDraft(this.#drafts, content, algorithms);
  }

  /**
   * Makes a draft the object of that key, in place of any other.
   * @param step  `before` and `after` run in the same synchronous step as the change. When `before` throws, nothing has
   *   changed and the draft is deleted.
   */
  async publish(
    draft: Draft,
    fields: Omit<StoredObject, 'size' | 'lastModified'>,
    step: { before?: () => void; after?: () => void } = {},
  ): Promise<StoredObject> {
    const object: StoredObject = { ...fields, size: draft.size, lastModified: this.moment() };
    try {
      await finishDraft(draft, object);
      step.before?.();
      const path = this.#path(object.key);
      mkdirSync(dirname(path), { recursive: true });
      renameSync(draft.path, path);
    } catch (error) {
      await discardDraft(draft);
      throw error;
    }
    if (!this.#index.has(object.key)) this.#sortedKeys = undefined;
    this.#index.set(object.key, object);
    this.#deletedAt.delete(object.key);
    step.after?.();
    return object;
  }

  /** Removes the object if there is one. */
  delete(key: string): void {
    if (!this.#index.has(key)) return;
    rmSync(this.#path(key), { force: true });
    this.#index.delete(key);
    this.#deletedAt.set(key, this.moment());
    this.#sortedKeys = undefined;
  }

  /** All keys in the order S3 lists them: by their UTF-8 bytes. */
  keys(): readonly string[] {
    this.#sortedKeys ??= sortByBytes([...this.#index.keys()]);
    return this.#sortedKeys;
  }

  #path(key: string): string {
    const name = createHash('sha256').update(key).digest('hex');
    return join(this.#objects, name.slice(0, 2), name);
  }
}

async function readIndex(objects: string): Promise<Map<string, StoredObject>> {
  const index = new Map<string, StoredObject>();
  for (const shard of await readdir(objects)) {
    const names = await readdir(join(objects, shard));
    const records = await Promise.all(names.map((name) => readRecord(join(objects, shard, name))));
    for (const object of records as (StoredObject | undefined)[]) if (object) index.set(object.key, object);
  }
  return index;
}

/** Sorted by UTF-8 bytes. JavaScript's own order differs for strings with surrogates. */
export function sortByBytes(keys: readonly string[]): string[] {
  return keys
    .map((key) => ({ key, bytes: Buffer.from(key).toString('latin1') }))
    .sort((a, b) => (a.bytes < b.bytes ? -1 : 1))
    .map(({ key }) => key);
}
