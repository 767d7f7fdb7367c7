import { PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { expect, test } from 'vitest';
import { ADMIN, BUCKET, frontOfFile, s3Client } from '../aws-front/front.ts';

const ORIGIN = 'https://app.example';
const rule = {
  AllowedOrigins: [ORIGIN, 'https://*.preview.example'],
  AllowedMethods: ['PUT'],
  AllowedHeaders: ['content-type', 'x-amz-*'],
  ExposedHeaders: ['ETag'],
  MaxAge: 300,
};
const front = await frontOfFile({ buckets: [{ name: BUCKET, cors: [rule] }, { name: 'closed' }] });
const s3 = s3Client(front, ADMIN, { requestChecksumCalculation: 'WHEN_REQUIRED' });

const preflight = (origin: string, method: string, headers: string, bucket = BUCKET) =>
  fetch(`${front.endpoint}/${bucket}/key`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      ...(headers && { 'access-control-request-headers': headers }),
    },
  });

test.each([
  [ORIGIN, 'PUT', 'Content-Type, X-Amz-Meta-File'],
  [ORIGIN, 'PUT', ''],
  ['https://a.preview.example', 'PUT', 'content-type'],
])('the rules of the bucket let %s send %s with the headers %j', async (origin, method, headers) => {
  const answer = await preflight(origin, method, headers);
  expect([answer.status, await answer.text()]).toEqual([200, '']);
  expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
  expect(answer.headers.get('access-control-allow-methods')).toBe('PUT');
  expect(answer.headers.get('access-control-max-age')).toBe('300');
  expect(answer.headers.get('vary')).toContain('Origin');
});

test.each([
  ['https://evil.example', 'PUT', '', BUCKET],
  [`${ORIGIN}.evil.example`, 'PUT', '', BUCKET],
  ['https://preview.example', 'PUT', '', BUCKET],
  [ORIGIN, 'DELETE', '', BUCKET],
  [ORIGIN, 'PUT', 'authorization', BUCKET],
  [ORIGIN, 'PUT', '', 'closed'],
])('the rules do not let %s send %s with the headers %j to the bucket %s', async (origin, method, headers, bucket) => {
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
