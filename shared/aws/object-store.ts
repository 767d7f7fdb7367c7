import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  NoSuchUpload,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { eachOf } from '../each-of.ts';
import { required } from '../env.ts';
import { ApiError } from '../errors.ts';
import { ownerTag } from '../files/object-key.ts';
import type { ObjectDescription, ObjectInventory, ObjectStore } from '../files/object-store.ts';
import { COPIES_AT_ONCE, COPY_PART_BYTES } from '../files/parts.ts';
import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';
import { CALL_MS, callSettings } from './call-times.ts';
import { limitAndTranslate } from './failures.ts';

/**
 * The one S3 client of a function. It adds a checksum only where an operation requires one. The default of the SDK would add the CRC32 of
 * an empty body to presigned URLs. S3 would then refuse every upload that is not empty. Calls that may take longer than others set a time
 * of their own.
 */
export const s3 = new S3Client({ ...callSettings(CALL_MS.object), requestChecksumCalculation: 'WHEN_REQUIRED' });
limitAndTranslate(s3);

export const bucket = required('UPLOADS_BUCKET');

/**
 * A browser may keep a copy for this time. The CDN asks again within a minute in any case (`infra/constructs/cdn-distribution.ts`). When S3
 * fails then, CloudFront would go on with its old copy, also that of a deleted file, unless it is told not to.
 */
const CACHE_CONTROL = 'public, max-age=3600, stale-if-error=0';

/** How often `occupy` tries when other calls change the key at the same time. */
const OCCUPY_TRIES = 3;

/** {@link ObjectStore} in S3. */
export const objectStore: ObjectStore = {
  async put(key, bytes, description) {
    await s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: bytes, ...headersOf(description) }));
  },

  async putInParts(key, parts, description) {
    try {
      await storeInParts(key, description, (upload) => putParts(upload, parts), CALL_MS.part);
    } catch (error) {
      // The operator or the bucket's lifecycle aborted the upload. A repeated CompleteMultipartUpload, whose first answer was lost, does
      // not fail like this: S3 answers again that the upload is complete.
      if (error instanceof NoSuchUpload) throw new ApiError('timeout', { cause: error, detail: 'its parts are gone' });
      throw error;
    }
  },

  async size(key) {
    try {
      const { ContentLength } = await s3.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
      return ContentLength ?? 0;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  },

  async copy({ from, to, sizeBytes }, description) {
    const source = { CopySource: `${bucket}/${from}` };
    try {
      if (sizeBytes > COPY_PART_BYTES) {
        const copy = (upload: UploadInParts) => copyParts({ ...upload, ...source }, sizeBytes);
        await storeInParts(to, description, copy, CALL_MS.copy);
      } else {
        const target = { Bucket: bucket, Key: to, MetadataDirective: 'REPLACE', ...headersOf(description) } as const;
        await s3.send(new CopyObjectCommand({ ...target, ...source }), { requestTimeout: CALL_MS.copy });
      }
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  },

  async occupy(key) {
    for (let tries = 1; ; tries++) {
      try {
        await s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, ContentLength: 0, IfNoneMatch: '*' }));
        return;
      } catch (error) {
        const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
        if (status === 412) return;
        // Another call has changed the key meanwhile. Whether there is an object now only the next attempt tells.
        // Source: S3 API, `If-None-Match` of "PutObject".
        if (status !== 409 || tries === OCCUPY_TRIES) throw error;
      }
    }
  },

  async remove(key) {
    await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
  },
};

/** {@link ObjectInventory} in S3. */
export const objectInventory: ObjectInventory = {
  async page(after) {
    const { Contents = [], IsTruncated } = await s3.send(
      new ListObjectsV2Command({ Bucket: bucket, StartAfter: after }),
    );
    const objects = Contents.map(({ Key = '', Size = 0, LastModified }) => ({
      key: Key,
      sizeBytes: Size,
      modifiedAt: LastModified?.getTime() ?? Number.NaN,
    }));
    const last = objects.at(-1)?.key;
    return { objects, ...(IsTruncated && last !== undefined && { after: last }) };
  },

  async ownerTag(key) {
    try {
      const { Metadata } = await s3.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
      return Metadata?.file;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  },

  async unfinishedUploads(key) {
    const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: key }));
    return Uploads.map(({ Key = '', UploadId = '', Initiated }) => ({
      key: Key,
      uploadId: UploadId,
      startedAt: Initiated?.getTime() ?? Number.NaN,
    }));
  },

  async abort({ key, uploadId }) {
    try {
      await s3.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: uploadId }));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  },
};

/** Asks whether the bucket is there. @throws when the storage does not answer before `signal` aborts the call. */
export function probeStorage(signal: AbortSignal): Promise<unknown> {
  return s3.send(new HeadBucketCommand({ Bucket: bucket }), { abortSignal: signal });
}

interface UploadInParts {
  readonly Bucket: string;
  readonly Key: string;
  readonly UploadId: string | undefined;
}

/**
 * Stores an object of several parts.
 * @param joinMs  how long S3 may take to make one object of the parts.
 * @throws NoSuchUpload when the parts are gone; any other error of `store` or of S3, after one short try to remove the parts.
 */
async function storeInParts(
  key: string,
  description: ObjectDescription,
  store: (upload: UploadInParts) => Promise<CompletedPart[]>,
  joinMs: number,
): Promise<void> {
  const created = await s3.send(
    new CreateMultipartUploadCommand({ Bucket: bucket, Key: key, ...headersOf(description) }),
  );
  const upload = { Bucket: bucket, Key: key, UploadId: created.UploadId };
  try {
    const Parts = await store(upload);
    const join = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } });
    await s3.send(join, { requestTimeout: joinMs });
  } catch (error) {
    if (!(error instanceof NoSuchUpload)) await removeParts(upload);
    throw error;
  }
}

function copyParts(
  upload: UploadInParts & { readonly CopySource: string },
  sizeBytes: number,
): Promise<CompletedPart[]> {
  const parts = Array.from({ length: Math.ceil(sizeBytes / COPY_PART_BYTES) }, (_, index) => index);
  return eachOf(parts, COPIES_AT_ONCE, async (index) => {
    const first = index * COPY_PART_BYTES;
    const last = Math.min(first + COPY_PART_BYTES, sizeBytes) - 1;
    const part = { ...upload, PartNumber: index + 1, CopySourceRange: `bytes=${first}-${last}` };
    const { CopyPartResult } = await s3.send(new UploadPartCopyCommand(part), { requestTimeout: CALL_MS.copy });
    return { ETag: CopyPartResult?.ETag, PartNumber: index + 1 };
  });
}

/** Removes the parts of an upload, because they cost money. If this fails, the walk of the bucket or the bucket's lifecycle does it. */
async function removeParts(upload: UploadInParts): Promise<void> {
  try {
    await briefly(async () => {
      await s3.send(new AbortMultipartUploadCommand(upload));
    });
  } catch (failure) {
    if (!(failure instanceof NoSuchUpload)) log('warn', 'parts not removed', describeError(failure));
  }
}

/** Sends one part while the next is read. When reading fails, this function still waits for the part that is being sent. */
async function putParts(upload: UploadInParts, parts: AsyncIterable<Uint8Array>): Promise<CompletedPart[]> {
  const completed: CompletedPart[] = [];
  let sending: Promise<CompletedPart> | undefined;
  try {
    for await (const Body of parts) {
      if (sending) completed.push(await sending);
      const PartNumber = completed.length + 1;
      sending = s3
        .send(new UploadPartCommand({ ...upload, PartNumber, Body }), { requestTimeout: CALL_MS.part })
        .then(({ ETag }) => ({ ETag, PartNumber }));
      // This promise is awaited after the next part has been read. Until then its failure must not count as an unhandled rejection.
      sending.catch(() => {});
    }
    if (sending) completed.push(await sending);
    return completed;
  } finally {
    await sending?.catch(() => {});
  }
}

function headersOf({ owner, mimeType, contentDisposition }: ObjectDescription) {
  return {
    ContentType: mimeType,
    ContentDisposition: contentDisposition,
    CacheControl: CACHE_CONTROL,
    Metadata: { file: ownerTag(owner) },
  };
}

/**
 * True when S3 answers that there is no such object or upload. For an object, S3 answers 403 instead when the caller may not list the
 * bucket. So a function that asks about an object needs the grant to list the bucket.
 */
function isMissing(error: unknown): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404;
}
