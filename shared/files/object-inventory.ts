export interface ListedObject {
  readonly key: string;
  readonly sizeBytes: number;
  /** Epoch milliseconds; of an object stored in parts, when its first part was announced. */
  readonly modifiedAt: number;
}

export interface UnfinishedUpload {
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
