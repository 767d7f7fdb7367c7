import {
  DeleteObjectsCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { listPage } from '../../../local-aws/s3/listing.ts';
import { sortByBytes } from '../../../local-aws/s3/object-store.ts';
import { BUCKET, failureOf, frontOfFile, s3Client } from '../aws-front/front.ts';

const front = await frontOfFile();
const s3 = s3Client(front);
/** In the order of their UTF-8 bytes, which is neither that of the alphabet nor that of JavaScript. */
const KEYS = [' a&<>"', 'B', 'a', 'a/1', 'a/2/x', 'a/2/y', 'a/3', 'a0', 'ü', '\uffee', '😀'];

const put = (Key: string) => s3.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'x' }));
const list = async (more: Partial<ListObjectsV2CommandInput> = {}) => {
  const answer = await s3.send(new ListObjectsV2Command({ Bucket: BUCKET, ...more }));
  const keys = (answer.Contents ?? []).map(({ Key = '' }) => Key);
  const groups = (answer.CommonPrefixes ?? []).map(({ Prefix = '' }) => Prefix);
  return { ...answer, keys, groups };
};

beforeAll(() => Promise.all(KEYS.map(put)));

test('lists all keys in the order of their bytes, with size and ETag', async () => {
  const { keys, KeyCount, IsTruncated, Contents, Name } = await list();
  expect({ keys, KeyCount, IsTruncated, Name }).toEqual({
    keys: KEYS,
    KeyCount: KEYS.length,
    IsTruncated: false,
    Name: BUCKET,
  });
  expect(Contents?.[0]).toMatchObject({ Size: 1, ETag: '"9dd4e461268c8034f5c8564e155c67a6"' });
});

test.each<[Partial<ListObjectsV2CommandInput>, string[], string[]]>([
  [{ Prefix: 'a/' }, ['a/1', 'a/2/x', 'a/2/y', 'a/3'], []],
  [{ Prefix: 'a/', Delimiter: '/' }, ['a/1', 'a/3'], ['a/2/']],
  [{ Delimiter: '/' }, [' a&<>"', 'B', 'a', 'a0', 'ü', '\uffee', '😀'], ['a/']],
  [{ Prefix: 'a', StartAfter: 'a/2/x' }, ['a/2/y', 'a/3', 'a0'], []],
  [{ StartAfter: 'a/3' }, ['a0', 'ü', '\uffee', '😀'], []],
  [{ StartAfter: 'zzz' }, ['ü', '\uffee', '😀'], []],
  [{ Prefix: 'nothing' }, [], []],
  [{ MaxKeys: 0 }, [], []],
])('%j lists %j and the groups %j', async (request, keys, groups) => {
  expect(await list(request)).toMatchObject({ keys, groups, IsTruncated: false });
});

test.each([1, 2, 3, 5])('pages of %i give every key and group once', async (MaxKeys) => {
  const found: string[] = [];
  let ContinuationToken: string | undefined;
  do {
    const page = await list({ Prefix: 'a', Delimiter: '/', MaxKeys, ContinuationToken });
    expect(page.keys.length + page.groups.length).toBeLessThanOrEqual(MaxKeys);
    found.push(...page.keys, ...page.groups);
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken !== undefined);
  expect(found.sort()).toEqual(['a', 'a/', 'a0']);
});

test('encodes keys where the request asks for it', async () => {
  expect((await list({ EncodingType: 'url' })).keys.at(-1)).toBe('%F0%9F%98%80');
});

test.each<[Partial<ListObjectsV2CommandInput>, string]>([
  [{ ContinuationToken: '***' }, 'InvalidArgument'],
  [{ MaxKeys: -1 }, 'InvalidArgument'],
])('refuses %j', async (request, name) => {
  expect(await failureOf(list(request))).toEqual({ name, status: 400 });
});

describe('listPage', () => {
  const key = fc.string({ unit: fc.constantFrom('a', 'b', '/', 'ü', '😀', '\uffee'), maxLength: 6 });
  const keys = fc
    .uniqueArray(
      key.filter((one) => one !== ''),
      { maxLength: 30 },
    )
    .map(sortByBytes);

  test('pages of any size, one after the other, are the whole list', () => {
    fc.assert(
      fc.property(
        keys,
        key,
        fc.option(fc.constant('/')),
        fc.integer({ min: 1, max: 5 }),
        (all, prefix, mark, limit) => {
          const delimiter = mark === null ? {} : { delimiter: mark };
          const whole = listPage(all, { prefix, ...delimiter, after: '', limit: 1_000 });
          const paged = { keys: [] as string[], commonPrefixes: [] as string[] };
          for (let after: string | undefined = ''; after !== undefined; ) {
            const page = listPage(all, { prefix, ...delimiter, after, limit });
            paged.keys.push(...page.keys);
            paged.commonPrefixes.push(...page.commonPrefixes);
            after = page.next;
          }
          expect(paged).toEqual(whole);
        },
      ),
    );
  });

  test('without a delimiter lists exactly the keys with the prefix that come after', () => {
    fc.assert(
      fc.property(keys, key, key, (all, prefix, after) => {
        const bytes = (text: string) => Buffer.from(text);
        const expected = all.filter((one) => one.startsWith(prefix) && Buffer.compare(bytes(one), bytes(after)) > 0);
        expect(listPage(all, { prefix, after, limit: 1_000 }).keys).toEqual(expected);
      }),
    );
  });
});

describe('DeleteObjects', () => {
  const remove = (Keys: string[], Quiet = false) =>
    s3.send(new DeleteObjectsCommand({ Bucket: BUCKET, Delete: { Quiet, Objects: Keys.map((Key) => ({ Key })) } }));

  test('deletes every key it names, there or not', async () => {
    await Promise.all(['del/1', 'del/<&>', 'del/3'].map(put));
    const { Deleted, Errors } = await remove(['del/1', 'del/<&>', 'del/absent']);
    expect(Deleted?.map(({ Key }) => Key)).toEqual(['del/1', 'del/<&>', 'del/absent']);
    expect(Errors).toBeUndefined();
    expect((await list({ Prefix: 'del/' })).keys).toEqual(['del/3']);
  });

  test('is silent about success when it is told to be quiet', async () => {
    await put('del/quiet');
    expect((await remove(['del/quiet'], true)).Deleted).toBeUndefined();
  });

  test.each([
    ['1000 keys', 1000, undefined],
    ['1001 keys', 1001, { name: 'MalformedXML', status: 400 }],
    ['no keys', 0, { name: 'MalformedXML', status: 400 }],
  ])('of %s', async (_, count, failure) => {
    const request = remove(Array.from({ length: count }, (_, index) => `del/${index}`));
    if (failure) expect(await failureOf(request)).toEqual(failure);
    else expect((await request).Deleted).toHaveLength(count);
  });
});
