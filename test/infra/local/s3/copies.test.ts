import {
  CopyObjectCommand,
  type CopyObjectCommandInput,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import type { ObjectCreated } from '../../../../infra/local/s3/s3-request.ts';
import { BUCKET, failureOf, frontOfFile, s3Client } from '../aws-front/front.ts';

const created: ObjectCreated[] = [];
const front = await frontOfFile({
  buckets: [{ name: BUCKET }, { name: 'other' }],
  onObjectCreated: (event) => created.push(event),
});
const s3 = s3Client(front);
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

test('copies content, headers and checksum, and tells the listener', async () => {
  const answer = await copy('copy');
  expect(answer.CopyObjectResult).toMatchObject({ ETag: source.ETag, ChecksumSHA256: SHA256 });
  expect(await head('copy')).toMatchObject({
    ContentType: 'text/plain',
    Metadata: { file: 'a/b' },
    ChecksumSHA256: SHA256,
  });
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'copy' }));
  expect(await Body?.transformToString()).toBe('hello world');
  expect(created.at(-1)).toMatchObject({ key: 'copy', size: 11, reason: 'CopyObject' });
});

test('takes the headers of the request instead where it says REPLACE, and only there', async () => {
  const replacement = { ContentType: 'image/png', Metadata: { other: '1' } };
  await copy('replaced', { ...replacement, MetadataDirective: 'REPLACE' });
  expect(await head('replaced')).toMatchObject(replacement);
  await copy('kept', replacement);
  expect(await head('kept')).toMatchObject({ ContentType: 'text/plain', Metadata: { file: 'a/b' } });
});

test('copies to another bucket, and from a key that needs encoding', async () => {
  await copy('a +ü/b');
  const CopySource = `/${BUCKET}/${encodeURIComponent('a +ü/b')}`;
  await s3.send(new CopyObjectCommand({ Bucket: 'other', Key: 'far', CopySource }));
  expect(await head('far', 'other')).toMatchObject({ ETag: source.ETag });
});

test('copies an object onto itself only with other headers', async () => {
  await copy('self');
  const self = { CopySource: `${BUCKET}/self` };
  expect(await failureOf(copy('self', self))).toEqual({ name: 'InvalidRequest', status: 400 });
  await copy('self', { ...self, MetadataDirective: 'REPLACE', ContentType: 'a/b' });
  expect(await head('self')).toMatchObject({ ContentType: 'a/b', ContentLength: 11 });
});

test.each<[Partial<CopyObjectCommandInput>, string, number]>([
  [{ CopySource: `${BUCKET}/missing` }, 'NoSuchKey', 404],
  [{ CopySource: 'nowhere/source' }, 'NoSuchBucket', 404],
  [{ CopySource: 'source' }, 'InvalidArgument', 400],
  [{ CopySource: `${BUCKET}/source?versionId=1` }, 'NotImplemented', 501],
  [{ CopySourceIfMatch: '"stale"' }, 'PreconditionFailed', 412],
  [{ CopySourceIfNoneMatch: source.ETag }, 'PreconditionFailed', 412],
  [{ CopySourceIfUnmodifiedSince: new Date('2001-01-01') }, 'PreconditionFailed', 412],
])('refuses %j with %s, and writes nothing', async (more, name, status) => {
  expect(await failureOf(copy('refused', more))).toEqual({ name, status });
  expect((await failureOf(head('refused'))).status).toBe(404);
});

test('copies the version that the condition names', async () => {
  await copy('named', { CopySourceIfMatch: source.ETag, CopySourceIfModifiedSince: new Date('2001-01-01') });
  expect(await head('named')).toMatchObject({ ETag: source.ETag });
});

test('keeps what is at the destination when the copy must be the first', async () => {
  await copy('first', { IfNoneMatch: '*' });
  expect(await failureOf(copy('first', { IfNoneMatch: '*' }))).toEqual({ name: 'PreconditionFailed', status: 412 });
});
