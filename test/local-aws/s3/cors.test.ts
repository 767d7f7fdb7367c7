import { PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { expect, test } from 'vitest';
import { s3OfFile } from './s3-of-file.ts';

const ORIGIN = 'https://app.example';
const rule = {
  AllowedOrigins: [ORIGIN, 'https://*.preview.example'],
  AllowedMethods: ['PUT'],
  AllowedHeaders: ['content-type', 'x-amz-*'],
  ExposedHeaders: ['ETag'],
  MaxAge: 300,
};
const { endpoint, bucket: BUCKET, secondBucket, client } = await s3OfFile([rule]);
const s3 = client({ requestChecksumCalculation: 'WHEN_REQUIRED' });

const preflight = (origin: string, method: string, headers: string, bucket = BUCKET) =>
  fetch(`${endpoint}/${bucket}/key`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      ...(headers && { 'access-control-request-headers': headers }),
    },
  });

test.each([
  ['a PUT with allowed headers', ORIGIN, 'PUT', 'Content-Type, X-Amz-Meta-File'],
  ['a PUT without headers', ORIGIN, 'PUT', ''],
  ['a PUT from an origin that matches a pattern', 'https://a.preview.example', 'PUT', 'content-type'],
])('the rules of the bucket allow %s', async (_name, origin, method, headers) => {
  const answer = await preflight(origin, method, headers);
  expect([answer.status, await answer.text()]).toEqual([200, '']);
  expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
  expect(answer.headers.get('access-control-allow-methods')).toBe('PUT');
  expect(answer.headers.get('access-control-max-age')).toBe('300');
  expect(answer.headers.get('vary')).toContain('Origin');
});

test.each([
  ['another origin', 'https://evil.example', 'PUT', '', BUCKET],
  ['an origin that begins like an allowed one', `${ORIGIN}.evil.example`, 'PUT', '', BUCKET],
  ['an origin without the part that the pattern needs', 'https://preview.example', 'PUT', '', BUCKET],
  ['another method', ORIGIN, 'DELETE', '', BUCKET],
  ['another header', ORIGIN, 'PUT', 'authorization', BUCKET],
  ['a bucket without rules', ORIGIN, 'PUT', '', secondBucket],
])('a preflight for %s is refused', async (_name, origin, method, headers, bucket) => {
  const answer = await preflight(origin, method, headers, bucket);
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([403, null]);
});

test('answers and refusals have CORS headers for the allowed origin, and for no other', async () => {
  const url = await getSignedUrl(s3, new PutObjectCommand({ Bucket: BUCKET, Key: 'key', ContentLength: 5 }));
  const send = (body: string, origin: string) => fetch(url, { method: 'PUT', body, headers: { origin } });
  const [taken, refused, foreign] = [
    await send('hello', ORIGIN),
    await send('too long', ORIGIN),
    await send('hello', 'https://evil.example'),
  ];
  expect([taken, refused, foreign].map(({ status }) => status)).toEqual([200, 403, 200]);
  const allowed = [taken, refused, foreign].map(({ headers }) => headers.get('access-control-allow-origin'));
  expect(allowed).toEqual([ORIGIN, ORIGIN, null]);
  expect(taken.headers.get('access-control-expose-headers')).toBe('ETag');
});
