import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  AbortMultipartUploadCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  type ListPartsCommandInput,
  PutBucketCorsCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { afterAll } from 'vitest';
import type { CorsRule } from '../../../local-aws/s3/cors.ts';
import { ACCOUNT, ADMIN, frontOfFile, s3Client, temporaryDirectory } from '../aws-front/front.ts';

/** The S3 that the tests of a file ask, with two buckets that are theirs alone. */
export interface S3OfFile {
  readonly endpoint: string;
  /** It has the CORS rules of the file. */
  readonly bucket: string;
  readonly secondBucket: string;
  client(config?: S3ClientConfig): S3Client;
  countParts(upload: Omit<ListPartsCommandInput, 'MaxParts'>): Promise<number>;
  /** The files of writes that are under way. Another S3 keeps them to itself. */
  drafts(): string[];
}

/**
 * Creates the buckets in the local AWS, or in another S3 if the variable `OTHER_S3` is its address (test/local-aws/README.md), and removes
 * them after the tests of the file.
 */
export function s3OfFile(cors: CorsRule[] = []): Promise<S3OfFile> {
  const names = { bucket: `files-${randomUUID()}`, secondBucket: `second-${randomUUID()}` };
  const other = process.env.OTHER_S3;
  return other === undefined ? localS3(names, cors) : otherS3(new URL(other), names, cors);
}

type Names = Pick<S3OfFile, 'bucket' | 'secondBucket'>;

async function localS3(names: Names, cors: CorsRule[]): Promise<S3OfFile> {
  const dataDir = temporaryDirectory();
  const buckets = [{ name: names.bucket, cors }, { name: names.secondBucket }];
  const front = await frontOfFile({ dataDir, buckets });
  const folder = (...parts: string[]) => readdirSync(join(dataDir, 's3', names.bucket, ...parts));
  return {
    ...names,
    endpoint: front.endpoint,
    client: (config) => s3Client(front, ADMIN, config),
    countParts: async ({ UploadId = '' }) =>
      folder('uploads', UploadId).filter((name) => name !== 'upload.json').length,
    drafts: () => folder('drafts'),
  };
}

async function otherS3({ origin, username, password }: URL, names: Names, cors: CorsRule[]): Promise<S3OfFile> {
  const credentials = {
    accessKeyId: decodeURIComponent(username),
    secretAccessKey: decodeURIComponent(password),
  };
  const client = (config: S3ClientConfig = {}) =>
    new S3Client({
      endpoint: origin,
      forcePathStyle: true,
      region: ACCOUNT.region,
      credentials,
      maxAttempts: 1,
      ...config,
    });
  const s3 = client();
  for (const Bucket of Object.values(names)) {
    await s3.send(new CreateBucketCommand({ Bucket }));
    afterAll(() => removeBucket(s3, Bucket));
  }
  if (cors.length > 0) {
    const CORSRules = cors.map(
      ({ AllowedMethods, AllowedOrigins, AllowedHeaders = [], ExposedHeaders = [], MaxAge }) => ({
        AllowedMethods: [...AllowedMethods],
        AllowedOrigins: [...AllowedOrigins],
        AllowedHeaders: [...AllowedHeaders],
        ExposeHeaders: [...ExposedHeaders],
        MaxAgeSeconds: MaxAge,
      }),
    );
    await s3.send(new PutBucketCorsCommand({ Bucket: names.bucket, CORSConfiguration: { CORSRules } }));
  }
  return {
    ...names,
    endpoint: origin,
    client,
    countParts: async (upload) => (await s3.send(new ListPartsCommand(upload))).Parts?.length ?? 0,
    drafts: () => [],
  };
}

async function removeBucket(s3: S3Client, Bucket: string): Promise<void> {
  const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand({ Bucket }));
  for (const { Key, UploadId } of Uploads) await s3.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
  for (const { Key } of Contents) await s3.send(new DeleteObjectCommand({ Bucket, Key }));
  await s3.send(new DeleteBucketCommand({ Bucket }));
}
