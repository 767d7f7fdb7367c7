import { join } from 'node:path';
import { FREE_BYTES, requireSpace } from '../host/disk.ts';
import { BucketFiles } from './bucket-files.ts';
import { copyObject, copyPart } from './copy-object.ts';
import { listMultipartUploads, listObjects } from './listing.ts';
import {
  abortMultipartUpload,
  completeMultipartUpload,
  createMultipartUpload,
  uploadPart,
} from './multipart-operations.ts';
import { MultipartStore } from './multipart-store.ts';
import { deleteObject, getObject, headObject, putObject } from './object-operations.ts';
import type { S3Operation } from './operation.ts';
import { S3Error } from './s3-error.ts';
import type { Bucket, Handler, ObjectCreated, S3Request, S3Response } from './s3-request.ts';

export interface S3Server {
  hasBucket(name: string): boolean;
  /** Carries out a request. @throws S3Error for every answer that is an error. */
  handle(request: S3Request): Promise<S3Response>;
}

/**
 * An S3 server that keeps its data in a directory. It does the operations of the table below; `recogniseOperation` answers
 * `NotImplemented` to all others. It checks no signatures and no policies: its caller has done that.
 * When the disk is full, it takes no content, and answers with DiskFull.
 * @param options  Only one process at a time may use `directory`. A bucket in it that `buckets` does not name is not served.
 */
export async function openS3Server(options: {
  directory: string;
  buckets: readonly string[];
  onObjectCreated?: (event: ObjectCreated) => void;
}): Promise<S3Server> {
  const { directory, onObjectCreated } = options;
  const buckets = new Map<string, Bucket>();
  for (const name of options.buckets) {
    const objects = await BucketFiles.open(join(directory, name));
    const uploads = await MultipartStore.open(join(directory, name));
    const created: Bucket['created'] = ({ key, size, etag }, reason) =>
      onObjectCreated?.({ bucket: name, key, size, etag, reason });
    buckets.set(name, { name, objects, uploads, created });
  }
  const handlers: Record<S3Operation, Handler> = {
    HeadBucket() {
      // A bucket that takes no object is not well, and programs ask this to learn whether it is.
      requireSpace(directory, FREE_BYTES.content);
      return { status: 200 };
    },
    ListObjectsV2: listObjects,
    ListMultipartUploads: listMultipartUploads,
    CreateMultipartUpload: createMultipartUpload,
    CompleteMultipartUpload: completeMultipartUpload,
    UploadPart: uploadPart,
    UploadPartCopy: copyPart(buckets),
    AbortMultipartUpload: abortMultipartUpload,
    CopyObject: copyObject(buckets),
    PutObject: putObject,
    GetObject: getObject,
    HeadObject: headObject,
    DeleteObject: deleteObject,
  };
  return {
    hasBucket: (name) => buckets.has(name),
    async handle(request) {
      const bucket = buckets.get(request.bucket);
      if (!bucket) throw new S3Error('NoSuchBucket', { details: { BucketName: request.bucket } });
      return handlers[request.operation](bucket, request);
    },
  };
}
