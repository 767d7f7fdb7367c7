import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Grant } from '../../../local-aws/aws-front/gate.ts';
import { allow, BUCKET, failureOf, frontOfFile, principal, s3Client } from './front.ts';

const denied: Grant[] = [];
beforeEach(() => void denied.splice(0));
const BUCKET_ARN = `arn:aws:s3:::${BUCKET}`;
const front = await frontOfFile({ onDenied: (grant) => denied.push(grant) });
const admin = s3Client(front);
await admin.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'up/there', Body: 'hello' }));
const upload = { Bucket: BUCKET, Key: 'up/parts' };
const { UploadId = '' } = await admin.send(new CreateMultipartUploadCommand(upload));

/** A client that may do exactly this. */
function clientWith(actions: string | string[], resource: string | string[], more = {}): S3Client {
  const user = principal('user', allow(actions, resource, more));
  front.addPrincipal(user);
  return s3Client(front, user);
}
const unrelated = clientWith('s3:GetBucketLocation', BUCKET_ARN);
const DENIED = { name: 'AccessDenied', status: 403 };

const there = { Bucket: BUCKET, Key: 'up/there' };
const part = { ...upload, UploadId, PartNumber: 1 };
const parts = { Parts: [{ PartNumber: 1, ETag: '"x"' }] };
const copy = { Bucket: BUCKET, Key: 'up/copy', CopySource: `${BUCKET}/up/there` };
const OPERATIONS: [string, (s3: S3Client) => Promise<unknown>, string, string][] = [
  ['HeadBucket', (s3) => s3.send(new HeadBucketCommand({ Bucket: BUCKET })), 's3:ListBucket', ''],
  ['ListObjectsV2', (s3) => s3.send(new ListObjectsV2Command({ Bucket: BUCKET })), 's3:ListBucket', ''],
  ['GetObject', (s3) => s3.send(new GetObjectCommand(there)), 's3:GetObject', '/up/there'],
  ['HeadObject', (s3) => s3.send(new HeadObjectCommand(there)), 's3:GetObject', '/up/there'],
  ['PutObject', (s3) => s3.send(new PutObjectCommand({ ...there, Body: 'x' })), 's3:PutObject', '/up/there'],
  ['DeleteObject', (s3) => s3.send(new DeleteObjectCommand({ ...there, Key: 'up/no' })), 's3:DeleteObject', '/up/no'],
  ['UploadPart', (s3) => s3.send(new UploadPartCommand({ ...part, Body: 'x' })), 's3:PutObject', '/up/parts'],
  [
    'CreateMultipartUpload',
    (s3) => s3.send(new CreateMultipartUploadCommand({ ...upload, Key: 'up/new' })),
    's3:PutObject',
    '/up/new',
  ],
  [
    'ListMultipartUploads',
    (s3) => s3.send(new ListMultipartUploadsCommand({ Bucket: BUCKET })),
    's3:ListBucketMultipartUploads',
    '',
  ],
];

test.each(OPERATIONS)('%s needs exactly its own permission', async (_, call, action, path) => {
  const resource = BUCKET_ARN + path;
  await call(clientWith(action, resource));
  const failure = await failureOf(call(unrelated));
  expect([failure.status, denied]).toEqual([403, [{ principal: 'user', action, resource }]]);
  expect((await failureOf(call(clientWith(action, `${BUCKET_ARN}x${path}`)))).status).toBe(403);
});

test('completing and aborting a multipart upload need their own permissions', async () => {
  const s3 = clientWith(['s3:GetObject', 's3:ListBucket'], [BUCKET_ARN, `${BUCKET_ARN}/*`]);
  const complete = new CompleteMultipartUploadCommand({ ...part, MultipartUpload: parts });
  expect(await failureOf(s3.send(complete))).toEqual(DENIED);
  expect(await failureOf(s3.send(new AbortMultipartUploadCommand(part)))).toEqual(DENIED);
  expect(denied.map(({ action }) => action)).toEqual(['s3:PutObject', 's3:AbortMultipartUpload']);
});

test('a copy needs to read its source and to write its destination', async () => {
  const source = allow('s3:GetObject', `${BUCKET_ARN}/up/there`);
  const destination = allow('s3:PutObject', `${BUCKET_ARN}/up/copy`);
  const reader = principal('reader', source);
  const writer = principal('writer', destination);
  const both = principal('both', source, destination);
  for (const user of [reader, writer, both]) front.addPrincipal(user);
  expect(await failureOf(s3Client(front, reader).send(new CopyObjectCommand(copy)))).toEqual(DENIED);
  expect(await failureOf(s3Client(front, writer).send(new CopyObjectCommand(copy)))).toEqual(DENIED);
  expect(denied.map(({ action }) => action)).toEqual(['s3:PutObject', 's3:GetObject']);
  await s3Client(front, both).send(new CopyObjectCommand(copy));
});

test('a copied part needs to read its source and to write its destination', async () => {
  const upload = { Bucket: BUCKET, Key: copy.Key };
  const { UploadId } = await admin.send(new CreateMultipartUploadCommand(upload));
  const copied = new UploadPartCopyCommand({ ...copy, UploadId, PartNumber: 1 });
  const read = ['s3:GetObject', `${BUCKET_ARN}/up/there`] as const;
  const write = ['s3:PutObject', `${BUCKET_ARN}/up/copy`] as const;
  expect(await failureOf(clientWith(...read).send(copied))).toEqual(DENIED);
  expect(await failureOf(clientWith(...write).send(copied))).toEqual(DENIED);
  expect(denied.map(({ action }) => action)).toEqual(['s3:PutObject', 's3:GetObject']);
});

describe('a key that is not there', () => {
  const missing = { Bucket: BUCKET, Key: 'up/missing' };

  test('is 404 for a caller that may list the bucket', async () => {
    const s3 = clientWith(['s3:GetObject', 's3:ListBucket'], [BUCKET_ARN, `${BUCKET_ARN}/*`]);
    expect(await failureOf(s3.send(new GetObjectCommand(missing)))).toEqual({ name: 'NoSuchKey', status: 404 });
    expect((await failureOf(s3.send(new HeadObjectCommand(missing)))).status).toBe(404);
  });

  test('is 403 for a caller that may not list the bucket, and is not reported as a missing permission', async () => {
    const s3 = clientWith(['s3:GetObject', 's3:PutObject'], `${BUCKET_ARN}/*`);
    expect(await failureOf(s3.send(new GetObjectCommand(missing)))).toEqual(DENIED);
    expect((await failureOf(s3.send(new HeadObjectCommand(missing)))).status).toBe(403);
    const fromMissing = new CopyObjectCommand({ ...copy, CopySource: `${BUCKET}/up/missing` });
    expect(await failureOf(s3.send(fromMissing))).toEqual(DENIED);
    expect(denied).toEqual([]);
  });
});

describe('a condition of a policy', () => {
  test('a condition on s3:prefix holds for the prefix that is listed', async () => {
    const s3 = clientWith('s3:ListBucket', BUCKET_ARN, { Condition: { StringLike: { 's3:prefix': ['up/*'] } } });
    const list = (Prefix?: string) => s3.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix }));
    await list('up/x');
    expect(await failureOf(list('down/'))).toEqual(DENIED);
    expect(await failureOf(list())).toEqual(DENIED);
  });

  test('a condition on s3:if-none-match holds for the header', async () => {
    const Condition = { StringEquals: { 's3:if-none-match': '*' } };
    const s3 = clientWith('s3:PutObject', `${BUCKET_ARN}/*`, { Condition });
    const put = (more = {}) => s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'once', Body: 'x', ...more }));
    expect(await failureOf(put())).toEqual(DENIED);
    await put({ IfNoneMatch: '*' });
  });

  test('adding a principal fails when its policy has a condition that the front does not know', () => {
    const Condition = { IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } };
    const user = principal('remote', allow('s3:*', '*', { Condition }));
    expect(() => front.addPrincipal(user)).toThrow(
      'a policy of remote has conditions that the local AWS cannot evaluate: aws:sourceip',
    );
    const variable = principal('own', allow('s3:*', `${BUCKET_ARN}/\${aws:username}/*`));
    expect(() => front.addPrincipal(variable)).toThrow('aws:username');
  });
});

test('an explicit denial overrides every permission', async () => {
  const deny = { Statement: [{ Effect: 'Deny', Action: 's3:PutObject', Resource: `${BUCKET_ARN}/up/*` }] };
  const user = principal('limited', allow('s3:*', '*'), deny);
  front.addPrincipal(user);
  const put = (Key: string) => s3Client(front, user).send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'x' }));
  await put('down/x');
  expect(await failureOf(put('up/x'))).toEqual(DENIED);
  await expect(put('up/x')).rejects.toThrow('with an explicit deny in an identity-based policy');
});

test.each(['up/a*', 'up/a?', 'up/*', `up/\${s3:prefix}`])('the key %j is not a pattern', async (Key) => {
  const s3 = clientWith('s3:PutObject', `${BUCKET_ARN}/up/*`);
  await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'x' }));
  const elsewhere = clientWith('s3:PutObject', `${BUCKET_ARN}/up/ab`);
  expect(await failureOf(elsewhere.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'x' })))).toEqual(DENIED);
});

test('the front remembers every permission that was used, for objects by folder', async () => {
  const user = principal('remembered', allow(['s3:PutObject', 's3:GetObject'], `${BUCKET_ARN}/*`));
  front.addPrincipal(user);
  for (const Key of ['r/1', 'r/2']) {
    await s3Client(front, user).send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'x' }));
  }
  const own = front.grantsUsed().filter(({ principal }) => principal === 'remembered');
  expect(own).toEqual([{ principal: 'remembered', action: 's3:PutObject', resource: `${BUCKET_ARN}/r/*` }]);
});
