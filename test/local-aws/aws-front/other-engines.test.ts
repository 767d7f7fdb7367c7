import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { expect, test } from 'vitest';
import type { MeteredCall } from '../../../local-aws/aws-front/meter.ts';
import type { ObjectCreated } from '../../../local-aws/s3/s3-request.ts';
import { allow, BUCKET, failureOf, frontOfFile, principal, s3Client } from './front.ts';

// The other engine is a second front. The front that is tested calls it as the principal `outer`.
const outer = principal('front', allow('s3:*', '*'));
const engineCalls: MeteredCall[] = [];
const engine = await frontOfFile({ principals: [outer], onCall: (call) => engineCalls.push(call) });
const created: ObjectCreated[] = [];
const reader = principal('reader', allow('s3:GetObject', '*'));
const front = await frontOfFile({
  principals: [reader],
  s3Engine: { endpoint: engine.endpoint, credentials: outer },
  onObjectCreated: (event) => created.push(event),
});
const s3 = s3Client(front);
const there = { Bucket: BUCKET, Key: 'a b/ü' };

test('an object is stored in the other engine and read from it, and `onObjectCreated` is called', async () => {
  await s3.send(new PutObjectCommand({ ...there, Body: 'hello', ContentType: 'text/plain', Metadata: { file: 'x' } }));
  expect(await s3Client(engine).send(new HeadObjectCommand(there))).toMatchObject({ Metadata: { file: 'x' } });
  const answer = await s3.send(new GetObjectCommand({ ...there, Range: 'bytes=1-2' }));
  expect(answer).toMatchObject({ ContentType: 'text/plain', ContentRange: 'bytes 1-2/5' });
  expect(await answer.Body?.transformToString()).toBe('el');
  await s3.send(new CopyObjectCommand({ Bucket: BUCKET, Key: 'copy', CopySource: `${BUCKET}/a%20b/%C3%BC` }));
  expect(created).toMatchObject([
    { key: 'a b/ü', size: 5, etag: '5d41402abc4b2a76b9719d911017c592', reason: 'PutObject' },
    { key: 'copy', size: 5, reason: 'CopyObject' },
  ]);
  const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix: 'a b/' }));
  expect(Contents).toHaveLength(1);
  await s3.send(new DeleteObjectCommand(there));
  expect((await failureOf(s3.send(new HeadObjectCommand(there)))).status).toBe(404);
});

test('a multipart upload is stored in the other engine, too', async () => {
  const upload = { Bucket: BUCKET, Key: 'parts' };
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(upload));
  const { ETag } = await s3.send(new UploadPartCommand({ ...upload, UploadId, PartNumber: 1, Body: 'part' }));
  const CopySource = `${BUCKET}/a%20b/%C3%BC`;
  await s3.send(new PutObjectCommand({ ...there, Body: 'copied' }));
  const copied = await s3.send(new UploadPartCopyCommand({ ...upload, UploadId, PartNumber: 1, CopySource }));
  expect(copied.CopyPartResult?.ETag).not.toBe(ETag);
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag: copied.CopyPartResult?.ETag }] };
  await s3.send(new CompleteMultipartUploadCommand({ ...upload, UploadId, MultipartUpload }));
  expect(created.at(-1)).toMatchObject({ key: 'parts', size: 6, reason: 'CompleteMultipartUpload' });
});

test('conditions, presigned URLs and missing keys get the answers of the local S3 server', async () => {
  const once = { Bucket: BUCKET, Key: 'once' };
  const url = await getSignedUrl(s3, new PutObjectCommand({ ...once, IfNoneMatch: '*', ContentLength: 5 }));
  const send = () => fetch(url, { method: 'PUT', body: 'hello', headers: { 'if-none-match': '*' } });
  expect([(await send()).status, (await send()).status]).toEqual([200, 412]);
  const missing = new GetObjectCommand({ Bucket: BUCKET, Key: 'missing' });
  expect(await failureOf(s3.send(missing))).toEqual({ name: 'NoSuchKey', status: 404 });
  expect(await failureOf(s3Client(front, reader).send(missing))).toEqual({ name: 'AccessDenied', status: 403 });
});

test('content that is not what was signed never becomes an object in the other engine', async () => {
  const client = s3Client(front, undefined, { requestChecksumCalculation: 'WHEN_REQUIRED' });
  client.middlewareStack.add(
    (next) => (args) => {
      (args.request as { body: unknown }).body = 'forged';
      return next(args);
    },
    { step: 'finalizeRequest', priority: 'low', name: 'forge' },
  );
  const put = client.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'forged', Body: 'signed' }));
  engineCalls.splice(0);
  expect((await failureOf(put)).name).toBe('XAmzContentSHA256Mismatch');
  // When the engine has stored a later object, it has had the time to store the forged one as well.
  await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'next', Body: 'x' }));
  const stored = engineCalls.filter(({ operation, status }) => operation === 'PutObject' && status === 200);
  expect(stored).toHaveLength(1);
});
