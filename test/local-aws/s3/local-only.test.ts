/** What the local AWS does in its own way: these tests say nothing of another S3. */
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  type CopyObjectCommandInput,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  PutObjectCommand,
  type PutObjectCommandInput,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { expect, test } from 'vitest';
import type { MeteredCall } from '../../../local-aws/aws-front/meter.ts';
import type { ObjectCreated } from '../../../local-aws/s3/s3-request.ts';
import { ADMIN, BUCKET, failureOf, frontOfFile, s3Client, temporaryDirectory } from '../aws-front/front.ts';

const dataDir = temporaryDirectory();
const created: ObjectCreated[] = [];
let onCall = (_: MeteredCall) => {};
const front = await frontOfFile({
  dataDir,
  onCall: (call) => onCall(call),
  onObjectCreated: (event) => created.push(event),
});
const s3 = s3Client(front, ADMIN, { requestChecksumCalculation: 'WHEN_REQUIRED' });

const put = (more: Partial<PutObjectCommandInput>) =>
  s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'object', Body: 'hello', ...more }));
const copy = (more: Partial<CopyObjectCommandInput>) => {
  const command = new CopyObjectCommand({ Bucket: BUCKET, Key: 'copy', CopySource: `${BUCKET}/source`, ...more });
  return s3.send(command);
};
const list = (more: Partial<ListObjectsV2CommandInput>) =>
  s3.send(new ListObjectsV2Command({ Bucket: BUCKET, ...more }));
const begin = (more: Partial<CreateMultipartUploadCommandInput> = {}) =>
  s3.send(new CreateMultipartUploadCommand({ Bucket: BUCKET, Key: 'joined', ...more }));
const head = (Key: string) => s3.send(new HeadObjectCommand({ Bucket: BUCKET, Key }));

async function complete(more: { MpuObjectSize?: number } = {}) {
  const upload = { Bucket: BUCKET, Key: 'joined', UploadId: (await begin()).UploadId };
  const { ETag } = await s3.send(new UploadPartCommand({ ...upload, PartNumber: 1, Body: 'hello' }));
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
  return s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload, ...more }));
}

async function copyRange() {
  const ranged = new CopyObjectCommand({ Bucket: BUCKET, Key: 'copy', CopySource: `${BUCKET}/source` });
  ranged.middlewareStack.add(
    (next) => (args) => {
      (args.request as { headers: Record<string, string> }).headers['x-amz-copy-source-range'] = 'bytes=0-1';
      return next(args);
    },
    { step: 'build' },
  );
  return s3.send(ranged);
}

await put({ Key: 'source' });

test.each<[string, () => Promise<unknown>]>([
  ['a PUT with tags', () => put({ Tagging: 'a=b' })],
  ['a PUT with an ACL', () => put({ ACL: 'public-read' })],
  ['a PUT with a storage class', () => put({ StorageClass: 'GLACIER' })],
  ['a PUT with encryption by KMS', () => put({ ServerSideEncryption: 'aws:kms' })],
  ['a PUT with a SHA-1', () => put({ ChecksumSHA1: 'A'.repeat(27).concat('=') })],
  ['a PUT with a CRC32C', () => put({ ChecksumCRC32C: 'AAAAAA==' })],
  ['a copy of a version', () => copy({ CopySource: `${BUCKET}/source?versionId=1` })],
  ['a copy with a condition for its source', () => copy({ CopySourceIfMatch: '"stale"' })],
  ['a copy with another checksum than that of its source', () => copy({ ChecksumAlgorithm: 'CRC32' })],
  ['a copy with a range', copyRange],
  ['a list with a delimiter', () => list({ Delimiter: '/' })],
  ['a list with an encoding', () => list({ EncodingType: 'url' })],
  ['an upload in parts with SHA-1', () => begin({ ChecksumAlgorithm: 'SHA1' })],
  ['an upload in parts with CRC64NVME', () => begin({ ChecksumAlgorithm: 'CRC64NVME' })],
  ['a completion that names the size of the object', () => complete({ MpuObjectSize: 5 })],
])('%s is refused, because the server would have to ignore it, and writes nothing', async (_name, call) => {
  expect(await failureOf(call())).toEqual({ name: 'NotImplemented', status: 501 });
  for (const key of ['object', 'copy', 'joined']) expect((await failureOf(head(key))).status).toBe(404);
});

test('onObjectCreated is called with every stored object, and with no refused one', async () => {
  created.length = 0;
  const object = { bucket: BUCKET, size: 5, etag: '5d41402abc4b2a76b9719d911017c592' };
  await put({ Key: 'told' });
  await failureOf(put({ Key: 'told', IfNoneMatch: '*' }));
  await copy({ Key: 'copied' });
  const { ETag = '' } = await complete();
  expect(created).toEqual([
    { ...object, key: 'told', reason: 'PutObject' },
    { ...object, key: 'copied', reason: 'CopyObject' },
    { ...object, key: 'joined', etag: ETag.slice(1, -1), reason: 'CompleteMultipartUpload' },
  ]);
});

/** Sends a request line, headers and a part of a body, then ends the connection; resolves when the server is done. */
async function sendPart(url: string, body: Buffer, end: 'end' | 'resetAndDestroy') {
  const { host, hostname, port, pathname, search } = new URL(url);
  const done = new Promise<MeteredCall>((resolve) => {
    onCall = resolve;
  });
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  const headers = `Host: ${host}\r\nContent-Length: ${body.length + 1}`;
  socket.write(`PUT ${pathname}${search} HTTP/1.1\r\n${headers}\r\n\r\n`);
  socket.write(body, () => socket[end]());
  return done;
}

test.each([
  [0, 'end'],
  [1, 'end'],
  [999, 'end'],
  [999, 'resetAndDestroy'],
  [100_000, 'resetAndDestroy'],
] as const)('a body that is cut after %i bytes, by %s, stores nothing, and keeps what was there', async (sent, end) => {
  await put({ Key: 'cut', Body: 'before' });
  const url = await getSignedUrl(s3, new PutObjectCommand({ Bucket: BUCKET, Key: 'cut' }));
  const call = await sendPart(url, Buffer.alloc(sent, 'x'), end);
  expect(call).toMatchObject({ operation: 'PutObject', status: 0 });
  expect(await head('cut')).toMatchObject({ ContentLength: 6 });
  expect(readdirSync(join(dataDir, 's3', BUCKET, 'drafts'))).toEqual([]);
});
