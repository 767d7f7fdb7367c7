import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  type CopyObjectCommandInput,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCopyCommand,
  type UploadPartCopyCommandInput,
} from '@aws-sdk/client-s3';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../aws-front/front.ts';
import { s3OfFile } from './s3-of-file.ts';

const { bucket: BUCKET, secondBucket, client, countParts } = await s3OfFile();
const s3 = client();
const copy = (Key: string, more: Partial<CopyObjectCommandInput> = {}) =>
  s3.send(new CopyObjectCommand({ Bucket: BUCKET, Key, CopySource: `${BUCKET}/source`, ...more }));
const head = (Key: string, Bucket = BUCKET) => s3.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }));

const SHA256 = 'uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=';
const source = await s3.send(
  new PutObjectCommand({
    Bucket: BUCKET,
    Key: 'source',
    Body: 'hello world',
    ContentType: 'text/plain',
    Metadata: { file: 'a/b' },
    ChecksumSHA256: SHA256,
  }),
);

test('a copy has the content, headers and checksum of its source', async () => {
  const answer = await copy('copy');
  expect(answer.CopyObjectResult).toMatchObject({ ETag: source.ETag, ChecksumSHA256: SHA256 });
  expect(await head('copy')).toMatchObject({
    ContentType: 'text/plain',
    Metadata: { file: 'a/b' },
    ChecksumSHA256: SHA256,
  });
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'copy' }));
  expect(await Body?.transformToString()).toBe('hello world');
});

test('a copy takes the headers of the request with REPLACE, and only then', async () => {
  const replacement = { ContentType: 'image/png', Metadata: { other: '1' } };
  await copy('replaced', { ...replacement, MetadataDirective: 'REPLACE' });
  expect(await head('replaced')).toMatchObject(replacement);
  await copy('kept', replacement);
  expect(await head('kept')).toMatchObject({ ContentType: 'text/plain', Metadata: { file: 'a/b' } });
});

test('a copy goes to another bucket, and from a key that needs encoding', async () => {
  await copy('a +ü/b');
  const CopySource = `/${BUCKET}/${encodeURIComponent('a +ü/b')}`;
  await s3.send(new CopyObjectCommand({ Bucket: secondBucket, Key: 'far', CopySource }));
  expect(await head('far', secondBucket)).toMatchObject({ ETag: source.ETag });
});

test('a copy of an object onto itself is made only with other headers', async () => {
  await copy('self');
  const self = { CopySource: `${BUCKET}/self` };
  expect(await failureOf(copy('self', self))).toEqual({ name: 'InvalidRequest', status: 400 });
  await copy('self', { ...self, MetadataDirective: 'REPLACE', ContentType: 'a/b' });
  expect(await head('self')).toMatchObject({ ContentType: 'a/b', ContentLength: 11 });
});

test.each<[string, Partial<CopyObjectCommandInput>, string, number]>([
  ['of a missing object', { CopySource: `${BUCKET}/missing` }, 'NoSuchKey', 404],
  ['from an unknown bucket', { CopySource: 'no-such-bucket-of-these-tests/source' }, 'NoSuchBucket', 404],
  ['without a source bucket', { CopySource: 'source' }, 'InvalidArgument', 400],
])('a copy %s is refused, and writes nothing', async (_name, more, name, status) => {
  expect(await failureOf(copy('refused', more))).toEqual({ name, status });
  expect((await failureOf(head('refused'))).status).toBe(404);
});

test('a copy with If-None-Match keeps the object at the destination', async () => {
  await copy('first', { IfNoneMatch: '*' });
  expect(await failureOf(copy('first', { IfNoneMatch: '*' }))).toEqual({ name: 'PreconditionFailed', status: 412 });
});

describe('a part that is copied', () => {
  const MIB = 1024 * 1024;
  const LARGE = Buffer.concat([Buffer.alloc(6 * MIB, 'a'), Buffer.from('the end')]);

  const begin = async (more: Partial<CreateMultipartUploadCommandInput> = {}) => {
    await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'large', Body: LARGE }));
    const upload = { Bucket: BUCKET, Key: 'joined' };
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ ...upload, ...more }));
    return { ...upload, UploadId };
  };
  type Upload = Awaited<ReturnType<typeof begin>>;
  const copyPart = (upload: Upload, PartNumber: number, more: Partial<UploadPartCopyCommandInput> = {}) =>
    s3.send(new UploadPartCopyCommand({ ...upload, PartNumber, CopySource: `${BUCKET}/large`, ...more }));

  test('has the bytes of its range, and becomes part of the object', async () => {
    const upload = await begin({ ContentType: 'image/png' });
    const first = await copyPart(upload, 1, { CopySourceRange: `bytes=1-${6 * MIB}` });
    const last = await copyPart(upload, 2, { CopySourceRange: `bytes=${6 * MIB + 4}-${6 * MIB + 6}` });
    const Parts = [first, last].map(({ CopyPartResult }, index) => ({
      PartNumber: index + 1,
      ETag: CopyPartResult?.ETag,
    }));
    expect(last.CopyPartResult?.LastModified).toBeInstanceOf(Date);
    await s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
    const { Body, ContentType } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'joined' }));
    const content = Buffer.from((await Body?.transformToByteArray()) ?? []);
    expect(content.equals(Buffer.concat([LARGE.subarray(1, 6 * MIB + 1), Buffer.from('end')]))).toBe(true);
    expect(ContentType).toBe('image/png');
  });

  test.each([
    ['without a range is the whole source', undefined, 'hello world'],
    ['with a range has its bytes', 'bytes=1-8', 'ello wor'],
  ])('%s, however small the source is', async (_name, CopySourceRange, expected) => {
    const upload = await begin();
    const { CopyPartResult } = await copyPart(upload, 1, { CopySource: `${BUCKET}/source`, CopySourceRange });
    const MultipartUpload = { Parts: [{ PartNumber: 1, ...CopyPartResult }] };
    await s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload }));
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: upload.Key }));
    expect(await Body?.transformToString()).toBe(expected);
  });

  test.each<[string, Partial<UploadPartCopyCommandInput>, string, number]>([
    ['with a range without an end', { CopySourceRange: 'bytes=0-' }, 'InvalidArgument', 400],
    ['with a range without a start', { CopySourceRange: 'bytes=-5' }, 'InvalidArgument', 400],
    ['with a range whose end is before its start', { CopySourceRange: 'bytes=5-4' }, 'InvalidArgument', 400],
    ['with a range without a unit', { CopySourceRange: '0-5' }, 'InvalidArgument', 400],
    ['with a range past the end of its source', { CopySourceRange: `bytes=0-${LARGE.length}` }, 'InvalidArgument', 400],
    ['from a missing object', { CopySource: `${BUCKET}/missing` }, 'NoSuchKey', 404],
    ['from an unknown bucket', { CopySource: 'no-such-bucket-of-these-tests/source' }, 'NoSuchBucket', 404],
    ['to an unknown upload', { UploadId: 'unknown' }, 'NoSuchUpload', 404],
    ['as part 10,001', { PartNumber: 10_001 }, 'InvalidArgument', 400],
  ])('%s is refused', async (_name, more, name, status) => {
    const upload = await begin();
    expect(await failureOf(copyPart(upload, 1, more))).toEqual({ name, status });
    expect(await countParts(upload)).toBe(0);
  });
});
