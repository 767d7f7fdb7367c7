import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  NoSuchUpload,
  PutObjectCommand,
  S3ServiceException,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { eachOf } from '../each-of.ts';
import { required } from '../env.ts';
import { ApiError } from '../errors.ts';
import { ownerTag } from '../files/object-key.ts';
import { type ObjectDescription, type ObjectStore, PartsLeft } from '../files/object-store.ts';
import { COPIES_AT_ONCE, COPY_PART_BYTES } from '../files/parts.ts';
import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';
import { CALL_MS } from './call-times.ts';
import { s3 } from './s3.ts';

const bucket = required('UPLOADS_BUCKET');

/** For browsers, which may keep a copy this long; the CDN asks again after a minute, whatever stands here. */
const CACHE_CONTROL = 'public, max-age=3600';

const LONG = { requestTimeout: CALL_MS.part };

/** What S3 answers to `If-None-Match: *` when something is there, or is being stored at this moment. */
const TAKEN: ReadonlySet<number | undefined> = new Set([412, 409]);

/** {@link ObjectStore} in S3. */
export const objectStore: ObjectStore = {
  async put(key, bytes, description) {
    await s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: bytes, ...headersOf(description) }));
  },

  async putInParts(key, parts, description) {
    try {
      await storeInParts(key, description, (upload) => putParts(upload, parts), CALL_MS.part);
    } catch (error) {
      // The sweeper aborted it, because its lease had ended, or the operator did. (To a completion that is repeated after a
      // lost answer S3 says again that it is done.)
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
    } catch (failure) {
      const error = failure instanceof PartsLeft ? failure.cause : failure;
      if (isMissing(error)) return false;
      throw error;
    }
  },

  async occupy(key) {
    try {
      await s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, ContentLength: 0, IfNoneMatch: '*' }));
    } catch (error) {
      if (!(error instanceof S3ServiceException && TAKEN.has(error.$metadata.httpStatusCode))) throw error;
    }
  },

  async remove(key) {
    await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
  },
};

interface UploadInParts {
  readonly Bucket: string;
  readonly Key: string;
  readonly UploadId: string | undefined;
}

/**
 * @param joinMs  how long S3 may take to make one object of the parts.
 * @throws PartsLeft; NoSuchUpload when the parts are gone; and what else went wrong, when they were thrown away.
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
    if (!(error instanceof NoSuchUpload)) await throwPartsAway(upload, error);
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

/** Parts are paid for until they are thrown away. @throws PartsLeft with the reason, when the one short try fails. */
async function throwPartsAway(upload: UploadInParts, reason: unknown): Promise<void> {
  try {
    await briefly(async () => {
      await s3.send(new AbortMultipartUploadCommand(upload));
    });
  } catch (failure) {
    if (failure instanceof NoSuchUpload) return;
    log('warn', 'parts not thrown away; the sweeper will', describeError(failure));
    throw new PartsLeft('parts are left', { cause: reason });
  }
}

/** One part is on its way while the next is read; when that fails, it is waited for all the same. */
async function putParts(upload: UploadInParts, parts: AsyncIterable<Uint8Array>): Promise<CompletedPart[]> {
  const completed: CompletedPart[] = [];
  let onItsWay: Promise<CompletedPart> | undefined;
  try {
    for await (const Body of parts) {
      if (onItsWay) completed.push(await onItsWay);
      const PartNumber = completed.length + 1;
      onItsWay = s3
        .send(new UploadPartCommand({ ...upload, PartNumber, Body }), LONG)
        .then(({ ETag }) => ({ ETag, PartNumber }));
      // Looked at when the next part is here; until then its failure must not count as unhandled.
      onItsWay.catch(() => {});
    }
    if (onItsWay) completed.push(await onItsWay);
    return completed;
  } finally {
    await onItsWay?.catch(() => {});
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
 * True when S3 says that there is no such object. It says so only to those who may list the bucket, to all others 403: a
 * function that asks needs that grant.
 */
export function isMissing(error: unknown): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404;
}
