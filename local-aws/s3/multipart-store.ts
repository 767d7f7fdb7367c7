import { randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Checksum, ChecksumAlgorithm } from './checksums.ts';
import { type Draft, discardDraft, finishDraft, readContent, readRecord } from './described-file.ts';

export interface Part {
  readonly partNumber: number;
  readonly size: number;
  readonly etag: string;
  readonly lastModified: number;
  /** Its checksum in base64; only if its upload has an algorithm. */
  readonly checksum?: string;
}

/** What is known of an upload when it begins. */
interface UploadRecord {
  readonly key: string;
  readonly initiated: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly algorithm?: ChecksumAlgorithm;
}

export interface Upload extends UploadRecord {
  readonly id: string;
  readonly parts: ReadonlyMap<number, Part>;
}

interface MutableUpload extends Upload {
  readonly parts: Map<number, Part>;
}

/** An upload that has ended. ETag and checksum are those of its object; there are none when the upload was aborted. */
interface EndedUpload {
  readonly key: string;
  readonly etag?: string;
  readonly checksum?: Checksum;
}

/** How many ended uploads are remembered. S3 remembers them for some hours; here they are forgotten with the process. */
const ENDED_MAX = 1_000;
const RECORD_NAME = 'upload.json';

/**
 * The unfinished multipart uploads of one bucket, on disk: one directory per upload, with one described file (`described-file.ts`)
 * per part. An upload that its client abandoned stays until it is aborted, as on S3.
 */
export class MultipartStore {
  readonly #uploads: string;
  readonly #trash: string;
  readonly #index: Map<string, MutableUpload>;
  readonly #ended = new Map<string, EndedUpload>();

  private constructor(directory: string, index: Map<string, MutableUpload>) {
    this.#uploads = join(directory, 'uploads');
    this.#trash = join(directory, 'trash');
    this.#index = index;
  }

  static async open(directory: string): Promise<MultipartStore> {
    const uploads = join(directory, 'uploads');
    await rm(join(directory, 'trash'), { recursive: true, force: true });
    await mkdir(join(directory, 'trash'), { recursive: true });
    await mkdir(uploads, { recursive: true });
    const index = new Map<string, MutableUpload>();
    for (const id of await readdir(uploads)) index.set(id, await readUpload(uploads, id));
    return new MultipartStore(directory, index);
  }

  /** @returns the id of the new upload. If the process dies here, the trash keeps a directory that the next start removes. */
  async begin(record: UploadRecord): Promise<string> {
    const id = randomUUID();
    const directory = join(this.#trash, id);
    await mkdir(directory);
    await writeFile(join(directory, RECORD_NAME), JSON.stringify(record));
    renameSync(directory, join(this.#uploads, id));
    this.#index.set(id, { ...record, id, parts: new Map() });
    return id;
  }

  /** The upload of that id, if it is for that key. */
  find(id: string, key: string): Upload | undefined {
    const upload = this.#index.get(id);
    return upload?.key === key ? upload : undefined;
  }

  /** How the upload of that id ended, if it was for that key and is still remembered. */
  findEnded(id: string, key: string): EndedUpload | undefined {
    const ended = this.#ended.get(id);
    return ended?.key === key ? ended : undefined;
  }

  /** All uploads, sorted by key, then by age. */
  list(): Upload[] {
    const byKey = (upload: Upload) => Buffer.from(upload.key);
    return [...this.#index.values()].sort((a, b) => byKey(a).compare(byKey(b)) || a.initiated - b.initiated);
  }

  /** Makes a draft a part of the upload, in place of any earlier one. @returns undefined when the upload ended meanwhile. */
  async putPart(id: string, draft: Draft, fields: Omit<Part, 'size' | 'lastModified'>): Promise<Part | undefined> {
    const part: Part = { ...fields, size: draft.size, lastModified: Date.now() };
    await finishDraft(draft, part);
    const upload = this.#index.get(id);
    if (!upload) {
      await discardDraft(draft);
      return undefined;
    }
    renameSync(draft.path, this.#partPath(id, part.partNumber));
    upload.parts.set(part.partNumber, part);
    return part;
  }

  /** The content of these parts, one after the other. @throws Error when the upload ends meanwhile. */
  async *content(id: string, parts: readonly Part[]): AsyncGenerator<Buffer> {
    for (const { partNumber, size } of parts) {
      if (size === 0) continue;
      yield* readContent(this.#partPath(id, partNumber), size);
    }
  }

  /**
   * Ends an upload that was completed or aborted, and then deletes its files. Between the creation of the object and this
   * step both the object and the upload exist: if the process dies there, the upload is listed again and has to be aborted.
   */
  end(id: string, ended: EndedUpload): void {
    this.#index.delete(id);
    if (this.#ended.size >= ENDED_MAX) this.#ended.delete(this.#ended.keys().next().value ?? '');
    this.#ended.set(id, ended);
    const trash = join(this.#trash, id);
    renameSync(join(this.#uploads, id), trash);
    // Nothing waits for this removal. The next start removes what it leaves behind.
    rm(trash, { recursive: true, force: true }).catch(() => {});
  }

  #partPath(id: string, partNumber: number): string {
    return join(this.#uploads, id, String(partNumber));
  }
}

async function readUpload(uploads: string, id: string): Promise<MutableUpload> {
  const directory = join(uploads, id);
  const record = JSON.parse(await readFile(join(directory, RECORD_NAME), 'utf8')) as UploadRecord;
  const names = (await readdir(directory)).filter((name) => name !== RECORD_NAME);
  const parts = (await Promise.all(names.map((name) => readRecord(join(directory, name))))) as (Part | undefined)[];
  return { ...record, id, parts: new Map(parts.flatMap((part) => (part ? [[part.partNumber, part] as const] : []))) };
}
