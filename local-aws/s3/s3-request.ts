import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { MultipartStore } from './multipart-store.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';
import type { S3Target } from './operation.ts';

/** A request whose sender is known and allowed to make it. */
export interface S3Request extends S3Target {
  readonly headers: IncomingHttpHeaders;
  /** Of the content, without any framing; `undefined` when the request does not say. */
  readonly contentLength: number | undefined;
  /** The content without any framing. Throws an S3Error when it is not what the request was signed for, or ends early. */
  readonly content: AsyncIterable<Uint8Array>;
  /** Headers that came after the content; complete once `content` has ended. */
  readonly trailers: ReadonlyMap<string, string>;
  /** What else the sender may do, where an answer depends on it. */
  readonly access: {
    list(bucket: string): Promise<boolean>;
    delete(bucket: string, key: string): Promise<boolean>;
  };
}

export interface S3Response {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Readable;
}

/** Why an object came to be, as EventBridge names it in `detail.reason`. */
export type CreationReason = 'PutObject' | 'CopyObject' | 'CompleteMultipartUpload';

export interface ObjectCreated {
  readonly bucket: string;
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Without quotes. */
  readonly etag: string;
  readonly reason: CreationReason;
}

export interface Bucket {
  readonly name: string;
  readonly objects: ObjectStore;
  readonly uploads: MultipartStore;
  /**
   * Tells the listener. If we die between the change and this, nobody is told; on AWS as well an event may come late, so
   * nothing may wait for one.
   */
  created(object: StoredObject, reason: CreationReason): void;
}

export type Handler = (bucket: Bucket, request: S3Request) => S3Response | Promise<S3Response>;
