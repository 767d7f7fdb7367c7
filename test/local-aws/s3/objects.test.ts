import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandInput,
  HeadBucketCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../aws-front/front.ts';
import { s3OfFile } from './s3-of-file.ts';

const { bucket: BUCKET, client } = await s3OfFile();
const s3 = client();
const put = (Key: string, Body: string, more: Partial<PutObjectCommandInput> = {}) =>
  s3.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: Buffer.from(Body), ...more }));
const get = (Key: string, more: Partial<GetObjectCommandInput> = {}) =>
  s3.send(new GetObjectCommand({ Bucket: BUCKET, Key, ...more }));
const text = async (Key: string) => (await get(Key)).Body?.transformToString();

const HELLO = 'hello world';
const HELLO_ETAG = '"5eb63bbbe01eeed093cb22bb8f5acdc3"';

test('an object is read with its content, its ETag and the headers it was put with', async () => {
  const kept = {
    ContentType: 'text/plain; charset=utf-8',
    ContentDisposition: `attachment; filename="a.txt"; filename*=UTF-8''%C3%A4.txt`,
    CacheControl: 'public, max-age=3600',
    ContentLanguage: 'de',
    Metadata: { file: 'account/id' },
  };
  const startedAt = Date.now();
  expect(await put('kept', HELLO, kept)).toMatchObject({ ETag: HELLO_ETAG });
  const whole = { ...kept, ETag: HELLO_ETAG, ContentLength: 11, AcceptRanges: 'bytes' };
  expect(await s3.send(new HeadObjectCommand({ Bucket: BUCKET, Key: 'kept' }))).toMatchObject(whole);
  const answer = await get('kept');
  expect(answer).toMatchObject(whole);
  // S3 tells the time in whole seconds.
  expect(answer.LastModified?.getTime()).toBeGreaterThan(startedAt - 1_000);
  expect(await answer.Body?.transformToString()).toBe(HELLO);
});

test('an empty object is stored', async () => {
  await put('empty', '');
  expect(await get('empty')).toMatchObject({ ContentLength: 0, ETag: '"d41d8cd98f00b204e9800998ecf8427e"' });
});

test.each([
  ['spaces and punctuation', 'a b/ü+(1)*!~\'".txt'],
  ['as many parts that lead up as down', 'a/b/../../c'],
  ['empty parts and single dots', 'a//b/./c'],
  ['percent-encoding', '%41'],
  ['the characters that end a path', '?&=#'],
  ['a control character', '\u0001'],
  ['an emoji', '😀'],
  ['1,024 bytes', 'x'.repeat(1024)],
])('a key with %s is stored as it is, and deleted', async (_name, key) => {
  await put(key, key);
  expect(await text(key)).toBe(key);
  await s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: key }));
  expect(await failureOf(get(key))).toEqual({ name: 'NoSuchKey', status: 404 });
});

test.each(['../x', 'a/../../b', 'a/../../b/c', './../x'])(
  'the key %j, which leads above its bucket, is refused',
  async (key) => {
    expect((await failureOf(put(key, ''))).status).toBe(400);
    expect((await failureOf(get(key))).status).toBe(400);
  },
);

test('a key may be the beginning of another key, also as its folder', async () => {
  await put('nested', 'file');
  await put('nested/file', 'inner');
  expect([await text('nested'), await text('nested/file')]).toEqual(['file', 'inner']);
});

test('keys that differ only in case are different objects', async () => {
  await put('case', 'lower');
  await put('CASE', 'upper');
  expect([await text('case'), await text('CASE')]).toEqual(['lower', 'upper']);
});

test('a key of 1025 bytes is refused', async () => {
  expect(await failureOf(put('x'.repeat(1025), ''))).toEqual({ name: 'KeyTooLongError', status: 400 });
});

test('metadata of more than 2 KB is refused', async () => {
  await put('metadata', '', { Metadata: { m: 'x'.repeat(2047) } });
  expect(await failureOf(put('metadata', '', { Metadata: { m: 'x'.repeat(2048) } }))).toEqual({
    name: 'MetadataTooLarge',
    status: 400,
  });
});

test('a PUT replaces the whole object', async () => {
  await put('replaced', 'first', { ContentType: 'image/png', Metadata: { a: '1' } });
  await put('replaced', 'second', { ContentType: 'image/gif' });
  expect(await get('replaced')).toMatchObject({ ContentType: 'image/gif', Metadata: {}, ContentLength: 6 });
});

test('a reader gets the former content to its end when the object is replaced', async () => {
  const before = 'x'.repeat(3_000_000);
  await put('open', before);
  const { Body } = await get('open');
  await put('open', 'after');
  expect(await Body?.transformToString()).toBe(before);
});

test('a deletion gets the same answer whether the object was there or not', async () => {
  await put('deleted', HELLO);
  const remove = () => s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: 'deleted' }));
  expect((await remove()).$metadata.httpStatusCode).toBe(204);
  expect(await failureOf(get('deleted'))).toEqual({ name: 'NoSuchKey', status: 404 });
  expect((await remove()).$metadata.httpStatusCode).toBe(204);
});

test('an unknown bucket is 404', async () => {
  expect((await s3.send(new HeadBucketCommand({ Bucket: BUCKET }))).$metadata.httpStatusCode).toBe(200);
  expect(await failureOf(s3.send(new HeadBucketCommand({ Bucket: 'no-such-bucket-of-these-tests' })))).toEqual({
    name: 'NotFound',
    status: 404,
  });
  const elsewhere = s3.send(new GetObjectCommand({ Bucket: 'no-such-bucket-of-these-tests', Key: 'k' }));
  expect(await failureOf(elsewhere)).toEqual({ name: 'NoSuchBucket', status: 404 });
});

describe('a range of an object of 11 bytes', () => {
  test.each([
    ['bytes=0-4', 'hello', 'bytes 0-4/11'],
    ['bytes=6-', 'world', 'bytes 6-10/11'],
    ['bytes=6-99', 'world', 'bytes 6-10/11'],
    ['bytes=-5', 'world', 'bytes 6-10/11'],
    ['bytes=-99', HELLO, 'bytes 0-10/11'],
    ['bytes=10-10', 'd', 'bytes 10-10/11'],
    ['bytes=0-1,4-5', HELLO, undefined],
    ['bytes=3-2', HELLO, undefined],
    ['bytes=a-b', HELLO, undefined],
    ['bytes=-', HELLO, undefined],
    ['lines=0-1', HELLO, undefined],
  ])('%s is %j', async (Range, expected, ContentRange) => {
    await put('ranged', HELLO);
    const answer = await get('ranged', { Range });
    expect(answer).toMatchObject({ ContentLength: expected.length });
    expect([answer.$metadata.httpStatusCode, answer.ContentRange]).toEqual([ContentRange ? 206 : 200, ContentRange]);
    expect(await answer.Body?.transformToString()).toBe(expected);
  });

  test.each(['bytes=11-', 'bytes=99-100', 'bytes=-0'])('%s cannot be satisfied', async (Range) => {
    await put('ranged', HELLO);
    expect(await failureOf(get('ranged', { Range }))).toEqual({ name: 'InvalidRange', status: 416 });
  });

  test.each<[string, number, string]>([
    ['the ETag of the object', 206, HELLO_ETAG],
    ['another ETag', 200, '"other"'],
    ['a time after the last change', 206, new Date(Date.now() + 3_600_000).toUTCString()],
    ['a time before the last change', 200, new Date('2001-01-01').toUTCString()],
    ['text that is neither ETag nor time', 200, 'nonsense'],
  ])('a range with %s in If-Range is answered %i', async (_name, status, ifRange) => {
    await put('ranged', HELLO);
    const url = await getSignedUrl(s3, new GetObjectCommand({ Bucket: BUCKET, Key: 'ranged' }));
    const answer = await fetch(url, { headers: { range: 'bytes=0-4', 'if-range': ifRange } });
    expect([answer.status, await answer.text()]).toEqual([status, status === 206 ? 'hello' : HELLO]);
  });

  test('a range of an empty object cannot be satisfied', async () => {
    await put('empty', '');
    expect(await failureOf(get('empty', { Range: 'bytes=0-' }))).toEqual({ name: 'InvalidRange', status: 416 });
  });
});

describe('a condition of a read', () => {
  const PAST = new Date('2001-01-01');
  const FUTURE = new Date(Date.now() + 3_600_000);
  test.each<[string, number, Partial<GetObjectCommandInput> | ((changedAt?: Date) => Partial<GetObjectCommandInput>)]>([
    ['If-Match with the ETag of the object', 200, { IfMatch: HELLO_ETAG }],
    ['If-Match with the ETag of the object without quotes', 200, { IfMatch: HELLO_ETAG.slice(1, -1) }],
    ['If-Match with the ETag of the object after another one', 200, { IfMatch: `"other", ${HELLO_ETAG}` }],
    ['If-Match with another ETag', 412, { IfMatch: '"other"' }],
    ['If-None-Match with the ETag of the object', 304, { IfNoneMatch: HELLO_ETAG }],
    ['If-None-Match with *', 304, { IfNoneMatch: '*' }],
    ['If-None-Match with another ETag', 200, { IfNoneMatch: '"other"' }],
    ['If-Modified-Since before the last change', 200, { IfModifiedSince: PAST }],
    ['If-Modified-Since with the last change', 304, (IfModifiedSince) => ({ IfModifiedSince })],
    ['If-Modified-Since in the future', 200, { IfModifiedSince: FUTURE }],
    ['If-Unmodified-Since before the last change', 412, { IfUnmodifiedSince: PAST }],
    ['If-Unmodified-Since after the last change', 200, { IfUnmodifiedSince: FUTURE }],
    ['a true If-Match with a false If-Unmodified-Since', 200, { IfMatch: HELLO_ETAG, IfUnmodifiedSince: PAST }],
    [
      'a true If-None-Match with a false If-Modified-Since',
      200,
      (IfModifiedSince) => ({ IfNoneMatch: '"other"', IfModifiedSince }),
    ],
  ])('%s is answered %i', async (_name, status, given) => {
    await put('conditional', HELLO);
    const condition = typeof given === 'function' ? given((await get('conditional')).LastModified) : given;
    if (status === 200) expect((await get('conditional', condition)).$metadata.httpStatusCode).toBe(200);
    else expect((await failureOf(get('conditional', condition))).status).toBe(status);
  });
});

describe('a condition of a write', () => {
  test('If-None-Match: * keeps what is there', async () => {
    await put('once', 'first', { IfNoneMatch: '*' });
    expect(await failureOf(put('once', 'second', { IfNoneMatch: '*' }))).toEqual({
      name: 'PreconditionFailed',
      status: 412,
    });
    expect(await text('once')).toBe('first');
  });

  test('exactly one of twenty writers with If-None-Match: * succeeds, and its content stays', async () => {
    const writers = Array.from({ length: 20 }, (_, index) => `writer ${index}`);
    const outcomes = await Promise.allSettled(writers.map((body) => put('race', body, { IfNoneMatch: '*' })));
    const winners = writers.filter((_, index) => outcomes[index]?.status === 'fulfilled');
    expect(winners).toEqual([await text('race')]);
  });

  test('If-Match replaces only the version that it names', async () => {
    await put('versioned', HELLO);
    await put('versioned', 'next', { IfMatch: HELLO_ETAG });
    const stale = put('versioned', 'lost', { IfMatch: HELLO_ETAG });
    expect(await failureOf(stale)).toEqual({ name: 'PreconditionFailed', status: 412 });
    expect(await failureOf(put('absent', '', { IfMatch: HELLO_ETAG }))).toEqual({ name: 'NoSuchKey', status: 404 });
    expect(await text('versioned')).toBe('next');
  });
});
