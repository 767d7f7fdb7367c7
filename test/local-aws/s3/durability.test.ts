import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
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
import { expect, onTestFinished, test, vi } from 'vitest';
import { ACCOUNT, ADMIN, BUCKET, failureOf, s3Client, startFront, temporaryDirectory } from '../aws-front/front.ts';

/** A front in another process, and a client for it. */
async function startProcess(dataDir: string) {
  const options = {
    ...ACCOUNT,
    dataDir,
    principals: [ADMIN],
    buckets: [{ name: BUCKET }],
    dynamoDbEndpoint: 'http://x',
  };
  const child = fork(join(import.meta.dirname, 'front-process.ts'), [JSON.stringify(options)]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const [{ endpoint }] = (await once(child, 'message')) as [{ endpoint: string }];
  return { child, s3: s3Client({ endpoint }, ADMIN, { requestChecksumCalculation: 'WHEN_REQUIRED' }) };
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Opens the same data in another process: this one. */
async function restart(dataDir: string) {
  const front = await startFront({ dataDir });
  onTestFinished(() => front.close());
  return s3Client(front);
}

test('objects, their headers and unfinished uploads are kept when the process is killed', async () => {
  const dataDir = temporaryDirectory();
  const { child, s3: before } = await startProcess(dataDir);
  const object = { Bucket: BUCKET, Key: 'kept', ContentType: 'text/plain', Metadata: { file: 'a/b' } };
  await before.send(new PutObjectCommand({ ...object, Body: 'hello' }));
  const upload = { Bucket: BUCKET, Key: 'joined' };
  const { UploadId } = await before.send(new CreateMultipartUploadCommand({ ...upload, ContentType: 'video/mp4' }));
  const { ETag } = await before.send(new UploadPartCommand({ ...upload, UploadId, PartNumber: 1, Body: 'part' }));
  await kill(child);

  const after = await restart(dataDir);
  const kept = await after.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'kept' }));
  expect(kept).toMatchObject({ ContentType: 'text/plain', Metadata: { file: 'a/b' }, ContentLength: 5 });
  expect(await kept.Body?.transformToString()).toBe('hello');
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
  await after.send(new CompleteMultipartUploadCommand({ ...upload, UploadId, MultipartUpload }));
  expect(await after.send(new HeadObjectCommand(upload))).toMatchObject({ ContentType: 'video/mp4', ContentLength: 4 });
});

test('nothing is kept of an upload that was under way when the process is killed', async () => {
  const dataDir = temporaryDirectory();
  const { child, s3 } = await startProcess(dataDir);
  await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'replaced', Body: 'before' }));
  const url = new URL(await getSignedUrl(s3, new PutObjectCommand({ Bucket: BUCKET, Key: 'replaced' })));
  const socket = connect(Number(url.port), url.hostname).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.write(`PUT ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Length: 9000000\r\n\r\n`);
  socket.write(Buffer.alloc(8_000_000));
  const drafts = join(dataDir, 's3', BUCKET, 'drafts');
  const sizes = () => readdirSync(drafts).map((name) => statSync(join(drafts, name)).size);
  await expect.poll(sizes).toEqual([expect.toSatisfy((size: number) => size > 1_000_000)]);
  await kill(child);

  const after = await restart(dataDir);
  expect(readdirSync(drafts)).toEqual([]);
  expect(await after.send(new HeadObjectCommand({ Bucket: BUCKET, Key: 'replaced' }))).toMatchObject({
    ContentLength: 6,
  });
});

test('deleted objects are gone after a restart, and the data of buckets is kept apart', async () => {
  const dataDir = temporaryDirectory();
  const front = await startFront({ dataDir, buckets: [{ name: BUCKET }, { name: 'other' }] });
  const before = s3Client(front);
  await before.send(new PutObjectCommand({ Bucket: 'other', Key: 'far', Body: 'x' }));
  for (const Key of ['deleted', 'near']) await before.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'x' }));
  await before.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: 'deleted' }));
  await front.close();
  const after = await restart(dataDir);
  const { Contents } = await after.send(new ListObjectsV2Command({ Bucket: BUCKET }));
  expect(Contents?.map(({ Key }) => Key)).toEqual(['near']);
  const gone = after.send(new GetObjectCommand({ Bucket: 'other', Key: 'far' }));
  expect((await failureOf(gone)).name).toBe('NoSuchBucket');
});

test('an object of 100 MiB is stored in constant memory', async () => {
  const { child, s3 } = await startProcess(temporaryDirectory());
  const peak = async () => {
    child.send('memory');
    const [{ peakMemoryBytes }] = (await once(child, 'message')) as [{ peakMemoryBytes: number }];
    return peakMemoryBytes;
  };
  const put = (size: number) =>
    s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'large', Body: Buffer.alloc(size) }));
  await put(1024 * 1024);
  const idle = await peak();
  await put(100 * 1024 * 1024);
  expect((await peak()) - idle).toBeLessThan(50 * 1024 * 1024);
});

/** The one file that the store has of a bucket's objects, or of the parts of its uploads. */
function onlyFile(dataDir: string, kind: 'objects' | 'uploads'): string {
  const directory = join(dataDir, 's3', BUCKET, kind);
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'upload.json')
    .map(({ parentPath, name }) => join(parentPath, name));
  expect(files).toHaveLength(1);
  return files[0] as string;
}

test.each<[string, (path: string) => void]>([
  ['cut', (path) => truncateSync(path, 50_000)],
  ['emptied', (path) => truncateSync(path, 0)],
  ['removed', rmSync],
])('an object or a part whose file was %s is an internal error, whoever reads it', async (_, damage) => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => said.mockRestore());
  const dataDir = temporaryDirectory();
  const s3 = await restart(dataDir);
  const [object, Body] = [{ Bucket: BUCKET, Key: 'damaged' }, Buffer.alloc(100_000)];
  await s3.send(new PutObjectCommand({ ...object, Body }));
  damage(onlyFile(dataDir, 'objects'));
  const upload = { Bucket: BUCKET, Key: 'joined' };
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(upload));
  const { ETag } = await s3.send(new UploadPartCommand({ ...upload, UploadId, PartNumber: 1, Body }));
  damage(onlyFile(dataDir, 'uploads'));
  const CopySource = `${BUCKET}/damaged`;
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
  const reads = [
    () => s3.send(new GetObjectCommand(object)),
    () => s3.send(new GetObjectCommand({ ...object, Range: 'bytes=10-19' })),
    () => s3.send(new CopyObjectCommand({ ...upload, CopySource })),
    () => s3.send(new UploadPartCopyCommand({ ...upload, UploadId, PartNumber: 2, CopySource })),
    () => s3.send(new CompleteMultipartUploadCommand({ ...upload, UploadId, MultipartUpload })),
  ];
  for (const read of reads) expect(await failureOf(read())).toEqual({ name: 'InternalError', status: 500 });
  // An answer to HEAD has no body that could name the error.
  expect(await failureOf(s3.send(new HeadObjectCommand(object)))).toMatchObject({ status: 500 });
  expect(said).toHaveBeenCalledTimes(reads.length + 1);
});

test('the reader of an object whose file is cut meanwhile gets no whole answer', async () => {
  const dataDir = temporaryDirectory();
  const s3 = await restart(dataDir);
  const object = { Bucket: BUCKET, Key: 'large' };
  await s3.send(new PutObjectCommand({ ...object, Body: Buffer.alloc(64 * 1024 * 1024) }));
  const response = await fetch(await getSignedUrl(s3, new GetObjectCommand(object)));
  const reader = response.body?.getReader();
  await reader?.read();
  truncateSync(onlyFile(dataDir, 'objects'), 1024 * 1024);
  const readRest = async () => {
    while (!(await reader?.read())?.done);
  };
  await expect(readRest()).rejects.toThrow('terminated');
});
