import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  PutObjectCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import fc from 'fast-check';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { sortByBytes } from '../../../local-aws/s3/bucket-files.ts';
import { listPage } from '../../../local-aws/s3/listing.ts';
import { failureOf } from '../aws-front/front.ts';
import { s3OfFile } from './s3-of-file.ts';

const { bucket: BUCKET, client } = await s3OfFile();
const s3 = client();
/** Keys in the order of their UTF-8 bytes, which differs from the alphabet and from the order of JavaScript. */
const KEYS = [' a&<>"', 'B', 'a!', 'a/1', 'a/2/x', 'a/2/y', 'a/3', 'a0', 'ü', '\uffee', '😀'];

const put = (Key: string) => s3.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'x' }));
const list = async (more: Partial<ListObjectsV2CommandInput> = {}) => {
  const answer = await s3.send(new ListObjectsV2Command({ Bucket: BUCKET, ...more }));
  const keys = (answer.Contents ?? []).map(({ Key = '' }) => Key);
  return { ...answer, keys };
};

beforeAll(() => Promise.all(KEYS.map(put)));

test('a list has all keys in the order of their bytes, with size and ETag', async () => {
  const { keys, KeyCount, IsTruncated, Contents, Name } = await list();
  expect({ keys, KeyCount, IsTruncated, Name }).toEqual({
    keys: KEYS,
    KeyCount: KEYS.length,
    IsTruncated: false,
    Name: BUCKET,
  });
  expect(Contents?.[0]).toMatchObject({ Size: 1, ETag: '"9dd4e461268c8034f5c8564e155c67a6"' });
});

test('the times in documents of S3 are whole seconds, written with milliseconds', async () => {
  const documents: string[] = [];
  const raw = client();
  raw.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { body } = result.response as { body: Readable };
      const text = await buffer(body);
      documents.push(text.toString());
      (result.response as { body: unknown }).body = Readable.from([text]);
      return result;
    },
    { step: 'deserialize', priority: 'low' },
  );
  const joined = { Bucket: BUCKET, Key: 'timed' };
  onTestFinished(async () => {
    await s3.send(new DeleteObjectCommand(joined));
  });
  const { UploadId } = await raw.send(new CreateMultipartUploadCommand(joined));
  const part = { ...joined, UploadId, PartNumber: 1, CopySource: `${BUCKET}/B` };
  await raw.send(new UploadPartCopyCommand(part));
  await raw.send(new CopyObjectCommand({ ...joined, CopySource: `${BUCKET}/B` }));
  await raw.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }));
  await raw.send(new ListObjectsV2Command({ Bucket: BUCKET }));
  const times = documents.flatMap((text) =>
    [...text.matchAll(/<(?:LastModified|Initiated)>([^<]*)</g)].map(([, at]) => at),
  );
  expect(times).toHaveLength(KEYS.length + 4);
  expect(times.filter((at) => !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/.test(at ?? ''))).toEqual([]);
});

test.each<[string, Partial<ListObjectsV2CommandInput>, string[]]>([
  ['a prefix has the keys that begin with it', { Prefix: 'a/' }, ['a/1', 'a/2/x', 'a/2/y', 'a/3']],
  [
    'a prefix and a start has the keys that begin with the prefix and come after the start',
    { Prefix: 'a', StartAfter: 'a/2/x' },
    ['a/2/y', 'a/3', 'a0'],
  ],
  ['a start has the keys that come after it', { StartAfter: 'a/3' }, ['a0', 'ü', '\uffee', '😀']],
  ['a start that is no key has the keys that come after it', { StartAfter: 'zzz' }, ['ü', '\uffee', '😀']],
  ['a prefix of no key is empty', { Prefix: 'nothing' }, []],
  ['a maximum of 0 keys is empty', { MaxKeys: 0 }, []],
])('a list with %s', async (_name, request, keys) => {
  expect(await list(request)).toMatchObject({ keys, IsTruncated: false });
});

test.each([1, 2, 3, 5])('pages of at most %i keys give every key once', async (MaxKeys) => {
  const found: string[] = [];
  let ContinuationToken: string | undefined;
  do {
    const page = await list({ Prefix: 'a', MaxKeys, ContinuationToken });
    expect(page.keys.length).toBeLessThanOrEqual(MaxKeys);
    found.push(...page.keys);
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken !== undefined);
  expect(found).toEqual(['a!', 'a/1', 'a/2/x', 'a/2/y', 'a/3', 'a0']);
});

test.each<[string, Partial<ListObjectsV2CommandInput>, string, number]>([
  ['a token that S3 did not give', { ContinuationToken: '***' }, 'InvalidArgument', 400],
  ['a negative number of keys', { MaxKeys: -1 }, 'InvalidArgument', 400],
])('a list with %s is refused', async (_name, request, name, status) => {
  expect(await failureOf(list(request))).toEqual({ name, status });
});

describe('listPage', () => {
  const key = fc.string({ unit: fc.constantFrom('a', 'b', '/', 'ü', '😀', '\uffee'), maxLength: 6 });
  const keys = fc
    .uniqueArray(
      key.filter((one) => one !== ''),
      { maxLength: 30 },
    )
    .map(sortByBytes);

  test('pages of any size together are the whole list', () => {
    fc.assert(
      fc.property(keys, key, fc.integer({ min: 1, max: 5 }), (all, prefix, limit) => {
        const whole = listPage(all, { prefix, after: '', limit: 1_000 });
        const paged = { keys: [] as string[] };
        for (let after: string | undefined = ''; after !== undefined; ) {
          const page = listPage(all, { prefix, after, limit });
          paged.keys.push(...page.keys);
          after = page.next;
        }
        expect(paged).toEqual(whole);
      }),
    );
  });

  test('lists exactly the keys with the prefix that come after the given key', () => {
    fc.assert(
      fc.property(keys, key, key, (all, prefix, after) => {
        const bytes = (text: string) => Buffer.from(text);
        const expected = all.filter((one) => one.startsWith(prefix) && Buffer.compare(bytes(one), bytes(after)) > 0);
        expect(listPage(all, { prefix, after, limit: 1_000 }).keys).toEqual(expected);
      }),
    );
  });
});
