import { createHash } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  type CompleteMultipartUploadCommandInput,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  UploadPartCommand,
  type UploadPartCommandInput,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { describe, expect, test } from 'vitest';
import { digestOf } from '../../../local-aws/s3/checksums.ts';
import { failureOf } from '../aws-front/front.ts';
import { s3OfFile } from './s3-of-file.ts';

const { bucket: BUCKET, client, countParts, drafts } = await s3OfFile();
const s3 = client({ requestChecksumCalculation: 'WHEN_REQUIRED' });

const MIB = 1024 * 1024;
const FIRST = Buffer.alloc(5 * MIB, 'first');
const LAST = Buffer.from('last');

const create = async (Key: string, more: Partial<CreateMultipartUploadCommandInput> = {}) => {
  const { UploadId = '' } = await s3.send(new CreateMultipartUploadCommand({ Bucket: BUCKET, Key, ...more }));
  return { Bucket: BUCKET, Key, UploadId };
};
type Upload = Awaited<ReturnType<typeof create>>;
const send = async (upload: Upload, PartNumber: number, Body: Buffer, more: Partial<UploadPartCommandInput> = {}) => {
  const { ETag } = await s3.send(new UploadPartCommand({ ...upload, PartNumber, Body, ...more }));
  return { PartNumber, ETag };
};
const sendSummed = async (upload: Upload, PartNumber: number, Body: Buffer, algorithm: 'SHA256' | 'CRC32') => {
  const part = { ...upload, PartNumber, Body, ChecksumAlgorithm: algorithm };
  const { ETag, ChecksumSHA256, ChecksumCRC32 } = await s3.send(new UploadPartCommand(part));
  return { PartNumber, ETag, ChecksumSHA256, ChecksumCRC32 };
};
const complete = (upload: Upload, Parts: CompletedPart[], more: Partial<CompleteMultipartUploadCommandInput> = {}) =>
  s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts }, ...more }));
const abort = (upload: Upload) => s3.send(new AbortMultipartUploadCommand(upload));
const head = (Key: string) => s3.send(new HeadObjectCommand({ Bucket: BUCKET, Key, ChecksumMode: 'ENABLED' }));
const md5 = (...bytes: Buffer[]) => createHash('md5').update(Buffer.concat(bytes)).digest();
const uploadsOf = async (Prefix: string) => {
  const { Uploads = [], IsTruncated } = await s3.send(new ListMultipartUploadsCommand({ Bucket: BUCKET, Prefix }));
  return { ids: Uploads.map(({ UploadId }) => UploadId), IsTruncated };
};

test('a completion joins the parts in their order into one object', async () => {
  const upload = await create('joined', { ContentType: 'video/mp4', Metadata: { file: 'a/b' } });
  const last = await send(upload, 7, LAST);
  const first = await send(upload, 3, FIRST);
  const { ETag } = await complete(upload, [first, last]);
  expect(ETag).toBe(`"${md5(md5(FIRST), md5(LAST)).toString('hex')}-2"`);
  const answer = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'joined' }));
  expect(answer).toMatchObject({ ETag, ContentType: 'video/mp4', Metadata: { file: 'a/b' } });
  const content = Buffer.from((await answer.Body?.transformToByteArray()) ?? []);
  expect(content.equals(Buffer.concat([FIRST, LAST]))).toBe(true);
});

test('an upload is invisible before it is complete', async () => {
  const upload = await create('hidden');
  await send(upload, 1, LAST);
  expect((await failureOf(head('hidden'))).status).toBe(404);
});

test('a completion takes the latest part of each number, and only the listed parts', async () => {
  const upload = await create('latest');
  await send(upload, 1, FIRST);
  const again = await send(upload, 1, LAST);
  await send(upload, 2, FIRST);
  await complete(upload, [again]);
  expect(await head('latest')).toMatchObject({ ContentLength: LAST.length });
});

const refused = await create('refused');
const first = await send(refused, 1, FIRST);
const small = await send(refused, 2, LAST);
const last = await send(refused, 3, LAST);
const late = await send(refused, 4, FIRST);

describe('a completion', () => {
  test.each<[string, CompletedPart[], string]>([
    ['without parts', [], 'MalformedXML'],
    ['out of order', [late, first], 'InvalidPartOrder'],
    ['with one part twice', [first, first], 'InvalidPartOrder'],
    ['of a part that is not there', [first, { PartNumber: 9, ETag: '"x"' }], 'InvalidPart'],
    ['of another ETag', [{ ...first, ETag: last.ETag }], 'InvalidPart'],
    ['with a small part before the last', [first, small, last], 'EntityTooSmall'],
  ])('%s is refused, and the upload stays', async (_, parts, name) => {
    expect(await failureOf(complete(refused, parts))).toEqual({ name, status: 400 });
    expect(await countParts(refused)).toBe(4);
    expect((await failureOf(head('refused'))).status).toBe(404);
  });

  test('a completion with one small part succeeds', async () => {
    await complete(refused, [small]);
    expect(await head('refused')).toMatchObject({ ContentLength: LAST.length });
  });

  test('a completion with If-None-Match: * is refused when the object exists, and the object and the upload stay', async () => {
    const late = await create('taken');
    const part = await send(late, 1, LAST);
    await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'taken', Body: 'before' }));
    const second = complete(late, [part], { IfNoneMatch: '*' });
    expect(await failureOf(second)).toEqual({ name: 'PreconditionFailed', status: 412 });
    expect(await head('taken')).toMatchObject({ ContentLength: 6 });
    await complete(late, [part]);
    expect(await head('taken')).toMatchObject({ ContentLength: LAST.length });
  });

  const put = (Key: string) => s3.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'same' }));
  const remove = (Key: string) => s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key }));
  const IF_SAME = { IfMatch: `"${md5(Buffer.from('same')).toString('hex')}"` };
  test.each<[string, (key: string) => Promise<unknown>, { IfMatch: string } | { IfNoneMatch: '*' }, boolean]>([
    ['If-None-Match: * after a deletion', remove, { IfNoneMatch: '*' }, true],
    [
      'If-None-Match: * after a write and a deletion',
      (key) => put(key).then(() => remove(key)),
      { IfNoneMatch: '*' },
      true,
    ],
    ['If-Match after a write of the same content', put, IF_SAME, true],
    [
      'If-Match after a deletion and a write of the same content',
      (key) => remove(key).then(() => put(key)),
      IF_SAME,
      true,
    ],
    ['If-Match without a change', async () => {}, IF_SAME, false],
    ['If-Match after a change of another key', () => put('another'), IF_SAME, false],
  ])(
    'a completion with %s during the upload is a conflict only if its key has changed',
    async (name, change, condition, isConflict) => {
      await put(name);
      const upload = await create(name);
      const parts = [await send(upload, 1, LAST)];
      await change(name);
      const conflict = { name: 'ConditionalRequestConflict', status: 409 };
      if (isConflict) expect(await failureOf(complete(upload, parts, condition))).toEqual(conflict);
      else await complete(upload, parts, condition);
      // Only an upload that begins after the change can fulfil the condition.
      const again = await create(name);
      if (isConflict) await complete(again, [await send(again, 1, LAST)], condition);
      expect(await head(name)).toMatchObject({ ContentLength: LAST.length });
    },
  );

  test('a repeated completion gets the same answer, and does not restore a deleted object', async () => {
    const upload = await create('repeated');
    const parts = [await send(upload, 1, LAST)];
    const { $metadata: _, ...answer } = await complete(upload, parts, { IfNoneMatch: '*' });
    await s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: 'repeated' }));
    expect(await complete(upload, parts, { IfNoneMatch: '*' })).toMatchObject(answer);
    expect((await failureOf(head('repeated'))).status).toBe(404);
  });

  test('one of several simultaneous completions of one key with If-None-Match: * succeeds', async () => {
    const uploads = await Promise.all(Array.from({ length: 5 }, () => create('contested')));
    const outcomes = await Promise.allSettled(
      uploads.map(async (upload, index) =>
        complete(upload, [await send(upload, 1, Buffer.from(`${index}`))], { IfNoneMatch: '*' }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('a checksum', () => {
  const OTHER = { SHA256: 'CRC32', CRC32: 'SHA256' } as const;

  test.each(['SHA256', 'CRC32'] as const)('of the algorithm %s is that of its parts', async (algorithm) => {
    const source = { Bucket: BUCKET, Key: `source ${algorithm}` };
    await s3.send(new PutObjectCommand({ ...source, Body: 'copied' }));
    const upload = await create(`summed ${algorithm}`, { ChecksumAlgorithm: algorithm });
    const sums = [await sendSummed(upload, 1, FIRST, algorithm)];
    const copy = { ...upload, PartNumber: 2, CopySource: `${BUCKET}/${encodeURIComponent(source.Key)}` };
    const { CopyPartResult: copied } = await s3.send(new UploadPartCopyCommand(copy));
    const name = `Checksum${algorithm}` as const;
    const parts = [...sums, { PartNumber: 2, ETag: copied?.ETag, [name]: copied?.[name] }];
    const digests = [FIRST, Buffer.from('copied')].map((bytes) => digestOf(algorithm, bytes));
    expect(parts.map((part) => part[name])).toEqual(digests.map((digest) => digest.toString('base64')));
    const sum = { [name]: `${digestOf(algorithm, ...digests).toString('base64')}-2`, ChecksumType: 'COMPOSITE' };
    const { $metadata: _, ...answer } = await complete(upload, parts);
    expect(answer).toMatchObject(sum);
    expect(await complete(upload, parts)).toMatchObject(answer);
    expect(await head(upload.Key)).toMatchObject(sum);
  });

  test.each<['SHA256' | 'CRC32', Partial<UploadPartCommandInput>]>([
    ['SHA256', { ChecksumAlgorithm: OTHER.SHA256 }],
    ['CRC32', { ChecksumAlgorithm: OTHER.CRC32 }],
    ['SHA256', { ChecksumCRC32: 'AAAAAA==' }],
    ['SHA256', {}],
  ])('of a part of an upload with %s is refused when the part has %j', async (algorithm, more) => {
    const upload = await create('other', { ChecksumAlgorithm: algorithm });
    const refused = send(upload, 1, LAST, more);
    await expect(refused).rejects.toMatchObject({ name: 'InvalidRequest', $metadata: { httpStatusCode: 400 } });
    await expect(refused).rejects.toThrow(
      `Checksum Type mismatch occurred, expected checksum Type: ${algorithm.toLowerCase()}, actual checksum Type: `,
    );
    expect(await countParts(upload)).toBe(0);
  });

  test('of a part is taken whatever its algorithm, when its upload has none', async () => {
    const upload = await create('free');
    const sent = await sendSummed(upload, 1, LAST, 'SHA256');
    expect(await failureOf(complete(upload, [sent]))).toEqual({ name: 'InvalidPart', status: 400 });
    await complete(upload, [{ PartNumber: 1, ETag: sent.ETag }]);
    expect((await head('free')).ChecksumSHA256).toBeUndefined();
  });

  test.each<[string, { ChecksumSHA256?: string }, string]>([
    ['without the checksum of a part', {}, 'InvalidRequest'],
    ['with another checksum of a part', { ChecksumSHA256: 'A'.repeat(43).concat('=') }, 'InvalidPart'],
  ])('is missed by a completion %s', async (_name, listed, name) => {
    const upload = await create('unlisted', { ChecksumAlgorithm: 'SHA256' });
    const { ETag } = await sendSummed(upload, 1, LAST, 'SHA256');
    expect(await failureOf(complete(upload, [{ PartNumber: 1, ETag, ...listed }]))).toEqual({ name, status: 400 });
  });

  test('a part with a checksum that does not match is refused', async () => {
    const upload = await create('mismatched');
    const bad = send(upload, 1, LAST, { ContentMD5: '1B2M2Y8AsgTpgAmY7PhCfg==' });
    expect(await failureOf(bad)).toEqual({ name: 'BadDigest', status: 400 });
    expect(await countParts(upload)).toBe(0);
  });
});

describe('the abort of an upload', () => {
  test('removes its parts, and then the upload accepts no more of them', async () => {
    const upload = await create('aborted');
    const part = await send(upload, 1, LAST);
    expect((await abort(upload)).$metadata.httpStatusCode).toBe(204);
    expect((await abort(upload)).$metadata.httpStatusCode).toBe(204);
    const noSuchUpload = { name: 'NoSuchUpload', status: 404 };
    expect(await failureOf(send(upload, 2, LAST))).toEqual(noSuchUpload);
    expect(await failureOf(complete(upload, [part]))).toEqual(noSuchUpload);
    expect((await uploadsOf('aborted')).ids).toEqual([]);
    expect(drafts()).toEqual([]);
  });

  test.each(['unknown', '..', '../objects'])('is refused for the id %j', async (UploadId) => {
    const upload = { Bucket: BUCKET, Key: 'aborted', UploadId };
    expect(await failureOf(abort(upload))).toEqual({ name: 'NoSuchUpload', status: 404 });
  });

  test('is refused under another key', async () => {
    const upload = await create('mine');
    expect((await failureOf(abort({ ...upload, Key: 'yours' }))).name).toBe('NoSuchUpload');
  });
});

test.each([0, 10_001])('the part number %i is refused', async (number) => {
  const upload = await create('numbers');
  expect(await failureOf(send(upload, number, LAST))).toEqual({ name: 'InvalidArgument', status: 400 });
});

test('uploads are listed by key and age, with a prefix', async () => {
  const uploads = [await create('list/b'), await create('list/a'), await create('list/a'), await create('other/a')];
  const ids = [uploads[1], uploads[2], uploads[0]].map((upload) => upload?.UploadId);
  expect(await uploadsOf('list/')).toEqual({ ids, IsTruncated: false });
});

describe('the document of a completion', () => {
  const post = async (upload: Upload, body: string) => {
    const command = new CompleteMultipartUploadCommand({ ...upload });
    const url = await getSignedUrl(s3, command);
    const answer = await fetch(url, { method: 'POST', body });
    return [answer.status, /<Code>(\w+)<\/Code>/.exec(await answer.text())?.[1]];
  };
  const part = '<Part><PartNumber>1</PartNumber><ETag>x</ETag></Part>';

  test.each([
    ['that is empty', 'MalformedXML', ''],
    ['that is not XML', 'MalformedXML', 'no XML'],
    ['with another root', 'MalformedXML', `<Other>${part}</Other>`],
    ['without the end of its root', 'MalformedXML', `<CompleteMultipartUpload>${part}`],
    ['with text after its root', 'MalformedXML', `<CompleteMultipartUpload>${part}</CompleteMultipartUpload>more`],
    ['without the end of a part', 'MalformedXML', `<CompleteMultipartUpload><Part></CompleteMultipartUpload>`],
    [
      'with a part without a number',
      'MalformedXML',
      `<CompleteMultipartUpload><Part><ETag>x</ETag></Part></CompleteMultipartUpload>`,
    ],
    [
      'with a declaration, a comment, an attribute and an unknown part',
      'InvalidPart',
      `<?xml version="1.0"?>\n<!-- a part -->\n<CompleteMultipartUpload a="b">${part}</CompleteMultipartUpload>\n`,
    ],
  ])('%s is answered %s', async (_name, code, body) => {
    expect(await post(await create('document'), body)).toEqual([400, code]);
  });
});
