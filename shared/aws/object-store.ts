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
} from '@aws-sdk/client-s3';
import { required } from '../env.ts';
import { ApiError } from '../errors.ts';
import { ownerTag } from '../files/object-key.ts';
import { type ObjectDescription, type ObjectStore, PartsLeft } from '../files/object-store.ts';
import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';
import { CALL_MS } from './call-times.ts';
import { s3 } from './s3.ts';

const bucket = required('UPLOADS_BUCKET');

/** For browsers, which may keep a copy this long; the CDN asks again after a minute, whatever stands here. */
const CACHE_CONTROL = 'public, max-age=3600';

const LONG = { requestTimeout: CALL_MS.part };

/** {@link ObjectStore} in S3. */
export const objectStore: ObjectStore = {
  async put(key, bytes, description) {
    await s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: bytes, ...headersOf(description) }));
  },

  async putInParts(key, parts, description) {
    const created = await s3.send(
      new CreateMultipartUploadCommand({ Bucket: bucket, Key: key, ...headersOf(description) }),
    );
    const upload = { Bucket: bucket, Key: key, UploadId: created.UploadId };
    try {
      const Parts = await putParts(upload, parts);
      await s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }), LONG);
    } catch (error) {
      // The sweeper aborted it, because its lease had ended, or the operator did. (To a completion that is repeated after a
      // lost answer S3 says again that it is done.)
      if (error instanceof NoSuchUpload) throw new ApiError('timeout', { cause: error, detail: 'its parts are gone' });
      await throwPartsAway(upload, error);
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

  async copy(from, to, description) {
    try {
      await s3.send(
        new CopyObjectCommand({
          Bucket: bucket,
          Key: to,
          CopySource: `${bucket}/${from}`,
          MetadataDirective: 'REPLACE',
          ...headersOf(description),
        }),
        { requestTimeout: CALL_MS.copy },
      );
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
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
