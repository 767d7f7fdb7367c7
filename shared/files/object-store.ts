import type { FileRef } from './file.ts';

/** What is served with the bytes of a public object. */
export interface ObjectDescription {
  readonly owner: FileRef;
  readonly mimeType: string;
  readonly contentDisposition: string;
}

/** An object of several parts was not stored, and its parts could not be thrown away. `cause` is why it was not stored. */
export class PartsLeft extends Error {
  override readonly name = 'PartsLeft';
}

interface Copy {
  readonly from: string;
  readonly to: string;
  /** Of the object to copy. */
  readonly sizeBytes: number;
}

/** The bytes of files, by key. A failed write may have happened all the same. */
export interface ObjectStore {
  put(key: string, bytes: Uint8Array, description: ObjectDescription): Promise<void>;

  /**
   * Stores an object of several parts, one on its way while the next is read; nothing is visible until all are stored.
   * When anything fails, `parts` included, what was stored is thrown away and the error passes.
   * @throws ApiError `timeout` when the parts were thrown away meanwhile, because it took too long.
   * @throws PartsLeft instead, when that fails, too: the row of the upload must stay, by which the sweeper finds them.
   */
  putInParts(key: string, parts: AsyncIterable<Uint8Array>, description: ObjectDescription): Promise<void>;

  /** Bytes of the object; undefined when there is none. */
  size(key: string): Promise<number | undefined>;

  /**
   * Copies an object inside the storage: a long one in parts, many at once, which are thrown away when one fails. When that
   * fails, too, they are the sweeper's to find, by the row that has the key.
   * @returns false when there is no object to copy, or the sweeper has thrown the parts away meanwhile.
   */
  copy(copy: Copy, description: ObjectDescription): Promise<boolean>;

  /** Stores an empty object unless there is one already, so that no PUT with `If-None-Match: *` succeeds from then on. */
  occupy(key: string): Promise<void>;

  /** Removes the object if there is one. */
  remove(key: string): Promise<void>;
}

export interface ListedObject {
  readonly key: string;
  readonly sizeBytes: number;
  /** Epoch milliseconds; of an object stored in parts, when its first part was announced. */
  readonly modifiedAt: number;
}

interface UnfinishedUpload {
  readonly key: string;
  readonly uploadId: string;
  readonly startedAt: number;
}

/** What is in the bucket, for those who look for what should not be. */
export interface ObjectInventory {
  /** A page of the objects in the order of their keys. @returns `after`: what the next page comes after, if there is one. */
  page(after: string | undefined): Promise<{ objects: ListedObject[]; after?: string }>;

  /** The owner tag an object was stored with; undefined when it has none, or is gone. */
  ownerTag(key: string): Promise<string | undefined>;

  /** Uploads in parts that were neither completed nor aborted, of one key or (a page of them) of all. */
  unfinishedUploads(key?: string): Promise<UnfinishedUpload[]>;

  /** Throws away the parts stored so far. Harmless twice. */
  abort(upload: UnfinishedUpload): Promise<void>;
}

/** What a direct upload may put, and where. */
interface PutPermission {
  readonly key: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly checksumSha256?: string;
}

export interface SignedPut {
  readonly url: string;
  /** What the client must send as it stands; `Content-Length` and `Host`, which are signed as well, it sends by itself. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Signs a URL that takes one PUT of exactly these bytes, once.
 * @param validity  from when (epoch milliseconds), and for how long, the PUT may begin.
 */
export type SignUpload = (
  permission: PutPermission,
  validity: { readonly now: number; readonly lifetimeMs: number },
) => Promise<SignedPut>;
