import type { FileRef } from './file.ts';

/** What the bucket keeps with the bytes of a public object. Everything except `owner` is served with the bytes. */
export interface ObjectDescription {
  readonly owner: FileRef;
  readonly mimeType: string;
  readonly contentDisposition: string;
}

interface Copy {
  readonly from: string;
  readonly to: string;
  readonly sizeBytes: number;
}

/** The bytes of files, by key. A write that fails may still have taken effect. */
export interface ObjectStore {
  put(key: string, bytes: Uint8Array, description: ObjectDescription): Promise<void>;

  /**
   * Stores an object in several parts. One part is sent while the next is read. The object appears when all parts are stored. When anything
   * fails, including the reading of `parts`, the stored parts are removed, and the error is thrown again.
   * @throws ApiError `timeout` when the parts were removed meanwhile.
   */
  putInParts(key: string, parts: AsyncIterable<Uint8Array>, description: ObjectDescription): Promise<void>;

  /** The size of the object in bytes; undefined when there is none. */
  size(key: string): Promise<number | undefined>;

  /**
   * Copies an object inside the storage: a large one in parts, many of them at the same time. When one part fails, the stored parts are
   * removed. If the removal fails too, the sweeper finds the parts by the row of the ticket, which holds the key.
   * @returns false when there is no object to copy, or the sweeper has removed the parts meanwhile.
   */
  copy(copy: Copy, description: ObjectDescription): Promise<boolean>;

  /** Stores an empty object unless there is an object already. From then on no PUT with `If-None-Match: *` succeeds. */
  occupy(key: string): Promise<void>;

  /** Removes the object if there is one. */
  remove(key: string): Promise<void>;
}

export interface ListedObject {
  readonly key: string;
  readonly sizeBytes: number;
  /** Epoch milliseconds. For an object stored in parts: when its upload began. */
  readonly modifiedAt: number;
}

interface UnfinishedUpload {
  readonly key: string;
  readonly uploadId: string;
  readonly startedAt: number;
}

/** What is in the bucket, for the sweeper and the operator, who look for objects that should not be there. */
export interface ObjectInventory {
  /** Lists a page of the objects in the order of their keys. @returns `after`: where the next page begins, if there is one. */
  page(after: string | undefined): Promise<{ objects: ListedObject[]; after?: string }>;

  /** Reads the owner tag of an object; undefined when it has none, or is gone. */
  ownerTag(key: string): Promise<string | undefined>;

  /** Lists multipart uploads that were neither completed nor aborted: those of one key or, without a key, a page of all. */
  unfinishedUploads(key?: string): Promise<UnfinishedUpload[]>;

  /** Removes the parts stored so far. May be repeated. */
  abort(upload: UnfinishedUpload): Promise<void>;
}

/** The PUT that a ticket allows. */
interface PutPermission {
  readonly key: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly checksumSha256?: string;
}

export interface SignedPut {
  readonly url: string;
  /** The client must send exactly these headers. `Content-Length` and `Host` are signed as well; every client sends them by itself. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Signs a URL that takes one PUT, with exactly this length, this type and, if there is one, this checksum of the bytes.
 * @param validity  the PUT must begin within `lifetimeMs` from `now`.
 */
export type SignUpload = (
  permission: PutPermission,
  validity: { readonly now: number; readonly lifetimeMs: number },
) => Promise<SignedPut>;
