import {
  AbortMultipartUploadCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
} from '@aws-sdk/client-s3';
import { required } from '../env.ts';
import type { ObjectInventory } from '../files/object-store.ts';
import { isMissing } from './object-store.ts';
import { s3 } from './s3.ts';

const bucket = required('UPLOADS_BUCKET');

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
