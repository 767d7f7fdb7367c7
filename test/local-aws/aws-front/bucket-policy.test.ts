import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { describe, expect, test } from 'vitest';
import type { Principal } from '../../../local-aws/aws-front/principals.ts';
import { ACCOUNT, allow, BUCKET, failureOf, frontOfFile, principal, s3Client, startFront } from './front.ts';

const DISTRIBUTION = `arn:aws:cloudfront::${ACCOUNT.accountId}:distribution/CDN`;
const arn = (path = '') => `arn:aws:s3:::${BUCKET}${path}`;
const cdn: Principal = { ...principal('cdn'), service: 'cloudfront.amazonaws.com', sourceArn: DISTRIBUTION };
const otherCdn: Principal = {
  ...principal('other-cdn'),
  service: 'cloudfront.amazonaws.com',
  sourceArn: `${DISTRIBUTION}2`,
};
const named = principal('named');
const blocked = principal('blocked', allow('s3:*', '*'));

/** What CDK writes for a bucket behind CloudFront with TLS enforced, and two grants to roles by name. */
const policy = {
  Version: '2012-10-17',
  Statement: [
    {
      Effect: 'Deny',
      Principal: { AWS: '*' },
      Action: 's3:*',
      Resource: [arn(), arn('/*')],
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    },
    {
      Effect: 'Allow',
      Principal: { Service: 'cloudfront.amazonaws.com' },
      Action: 's3:GetObject',
      Resource: arn('/uploads/*'),
      Condition: { StringEquals: { 'AWS:SourceArn': DISTRIBUTION } },
    },
    {
      Effect: 'Allow',
      Principal: { AWS: `arn:aws:iam::${ACCOUNT.accountId}:role/named` },
      Action: 's3:GetObject',
      Resource: arn('/uploads/*'),
    },
    {
      Effect: 'Deny',
      Principal: { AWS: `arn:aws:iam::${ACCOUNT.accountId}:role/blocked` },
      Action: 's3:DeleteObject',
      Resource: arn('/*'),
    },
    { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: arn('/public/*') },
  ],
};
const front = await frontOfFile({
  buckets: [{ name: BUCKET, policy }],
  principals: [cdn, otherCdn, named, blocked],
});
const DENIED = { name: 'AccessDenied', status: 403 };
for (const Key of ['uploads/token', 'incoming/token', 'public/page']) {
  await s3Client(front).send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'hello' }));
}
const get = (who: Principal, Key: string) => s3Client(front, who).send(new GetObjectCommand({ Bucket: BUCKET, Key }));

describe('a distribution of CloudFront', () => {
  test('reads what the policy of the bucket lets it read, and no other object', async () => {
    expect((await get(cdn, 'uploads/token')).ContentLength).toBe(5);
    expect(await failureOf(get(cdn, 'incoming/token'))).toEqual(DENIED);
    const write = s3Client(front, cdn).send(new PutObjectCommand({ Bucket: BUCKET, Key: 'uploads/x', Body: 'x' }));
    expect(await failureOf(write)).toEqual(DENIED);
    expect(await failureOf(s3Client(front, cdn).send(new ListObjectsV2Command({ Bucket: BUCKET })))).toEqual(DENIED);
  });

  test('gets 403 for a missing object', async () => {
    expect(await failureOf(get(cdn, 'uploads/missing'))).toEqual(DENIED);
    const head = s3Client(front, cdn).send(new HeadObjectCommand({ Bucket: BUCKET, Key: 'uploads/*' }));
    expect((await failureOf(head)).status).toBe(403);
  });

  test('has no access when the policy of the bucket names another one', async () => {
    expect(await failureOf(get(otherCdn, 'uploads/token'))).toEqual(DENIED);
  });
});

test('a role that the policy of the bucket allows needs no policy of its own', async () => {
  expect((await get(named, 'uploads/token')).ContentLength).toBe(5);
  expect(await failureOf(get(named, 'incoming/token'))).toEqual(DENIED);
});

test('a role that the policy of the bucket denies is denied, whatever its own policies say', async () => {
  const s3 = s3Client(front, blocked);
  expect((await get(blocked, 'incoming/token')).ContentLength).toBe(5);
  const remove = () => s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: 'x' }));
  expect(await failureOf(remove())).toEqual(DENIED);
  await expect(remove()).rejects.toThrow('with an explicit deny in a resource-based policy');
});

test('an anonymous caller reads what the policy of the bucket makes public, and nothing else', async () => {
  expect(await (await fetch(`${front.endpoint}/${BUCKET}/public/page`)).text()).toBe('hello');
  expect((await fetch(`${front.endpoint}/${BUCKET}/uploads/token`)).status).toBe(403);
  expect((await fetch(`${front.endpoint}/${BUCKET}/public/x`, { method: 'PUT', body: 'x' })).status).toBe(403);
  expect((await fetch(`${front.endpoint}/${BUCKET}?list-type=2`)).status).toBe(403);
});

test('the front does not start with a policy that it cannot evaluate', async () => {
  const Condition = { IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } };
  const Statement = [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: arn('/*'), Condition }];
  await expect(startFront({ buckets: [{ name: BUCKET, policy: { Statement } }] })).rejects.toThrow('aws:sourceip');
});
