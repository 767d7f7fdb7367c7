import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { BucketFiles, StoredObject } from './bucket-files.ts';
import type { MultipartStore } from './multipart-store.ts';
import type { S3Target } from './operation.ts';

/** A request whose sender is known and allowed to make it. */
export interface S3Request extends S3Target {
  readonly headers: IncomingHttpHeaders;
  /** The length of the content in bytes, without framing; `undefined` when the request does not say it. */
  readonly contentLength: number | undefined;
  /** The content without framing. Reading throws an S3Error when the content is not what was signed, or ends early. */
  readonly content: AsyncIterable<Uint8Array>;
  /** The headers that follow the content; complete once `content` has ended. */
  readonly trailers: ReadonlyMap<string, string>;
  /** Whether the sender may list the bucket, and so may learn that an object does not exist. */
  mayList(bucket: string): Promise<boolean>;
}

export interface S3Response {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Readable;
}

/** The operation that created an object, as EventBridge names it in `detail.reason`. */
type CreationReason = 'PutObject' | 'CopyObject' | 'CompleteMultipartUpload';

export interface ObjectCreated {
  readonly bucket: string;
  readonly key: string;
  /** The size of the object in bytes. */
  readonly size: number;
  /** The ETag without its quotes. */
  readonly etag: string;
  readonly reason: CreationReason;
}

export interface Bucket {
  readonly name: string;
  readonly objects: BucketFiles;
  readonly uploads: MultipartStore;
  /**
   * Tells the listener that an object was created. If the process dies between the change and this call, no event is sent.
   * On AWS an event may come late, too, so nothing may depend on one.
   */
  created(object: StoredObject, reason: CreationReason): void;
}

export type Handler = (bucket: Bucket, request: S3Request) => S3Response | Promise<S3Response>;
