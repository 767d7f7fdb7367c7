import { createHash, randomBytes } from 'node:crypto';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { AbortMultipartUploadCommand, ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../shared/errors.ts';
import { deleteFile } from '../../../shared/files/delete-file.ts';
import { getFile } from '../../../shared/files/file-record.ts';
import { PART_BYTES } from '../../../shared/files/parts.ts';
import { settleUpload } from '../../../shared/files/settle-upload.ts';
import { discardUpload } from '../../../shared/files/stage-upload.ts';
import { ACCOUNT_LIMITS, broken, chunks, HOUR_MS, inTime, newAccount, stage, sweepAll, upload } from './actions.ts';
import { expectBalance, forgetWalk, keysInBucket, openParts, readObject, statesOf } from './observe.ts';
import { BUCKET, startService } from './service.ts';

const service = await startService({ hasTimeLimits: true });
const { stores } = service;

describe('an upload', () => {
  test.each([0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES, 3 * PART_BYTES + 7])(
    'an upload of %i bytes is stored byte for byte, and charged',
    async (size) => {
      const accountId = await newAccount(service);
      const content = randomBytes(size);
      const { file, isReplay } = await upload(service, accountId, content, { content: inChunks(content, 100_003) });
      expect({ ...file, isReplay }).toMatchObject({ name: 'hello.txt', sizeBytes: size, isReplay: false });
      const object = await readObject(service, file.objectKey);
      expect(sha256(object.bytes)).toBe(sha256(content));
      await expectBalance(service, accountId, { files: 1, bytes: size });
    },
  );

  test('is served with the name and type of its part, and the metadata of its object says which row it belongs to', async () => {
    const accountId = await newAccount(service);
    const { file } = await upload(service, accountId, '<p>', { clientName: 'C:\\ä.html', declaredType: 'Text/HTML' });
    expect(file).toMatchObject({ name: 'ä.html', mimeType: 'text/html' });
    expect(await readObject(service, file.objectKey)).toMatchObject({
      ContentType: 'text/html',
      ContentDisposition: expect.stringMatching(/^attachment; filename=".*\.html"; filename\*=UTF-8''%C3%A4\.html$/),
      Metadata: { file: `${accountId}/${file.id}` },
    });
    expect(await getFile(stores, { accountId, id: file.id })).toMatchObject(file);
  });
});

test('a byte more than the limit is refused in a second part, too', async () => {
  const accountId = await newAccount(service);
  const uploading = upload(service, accountId, randomBytes(PART_BYTES + 11), { maxBytes: PART_BYTES + 10 });
  await expect(uploading).rejects.toMatchObject({ code: 'file_too_large' });
  await expectBalance(service, accountId, { files: 0, bytes: 0 });
});

describe('the files of an account may be as large as its storage limit', () => {
  test.each([
    ['a larger one', 20, true],
    ['a smaller one', 5, false],
    ['a limit of zero', 0, false],
  ])('the account’s own limit counts, if the operator set one: %s', async (_, ownLimitBytes, fits) => {
    const accountId = await newAccount(service, { ownLimitBytes });
    const uploading = upload(service, accountId, randomBytes(20), { storageLimitBytes: 10 });
    if (!fits) await expect(uploading).rejects.toMatchObject({ code: 'storage_limit_exceeded' });
    else await uploading;
    await expectBalance(service, accountId, fits ? { files: 1, bytes: 20 } : { files: 0, bytes: 0 });
  });

  test.each([
    ['raised', { storageLimitBytes: 5 }, true],
    ['set for this account alone', {}, true],
  ])('the limit at the time of settling counts: it was %s meanwhile', async (_, known, fits) => {
    const accountId = await newAccount(service, { ownLimitBytes: 20 });
    const staged = await stage(service, accountId, chunks(randomBytes(20)));
    if (staged.kind !== 'stored') throw new Error('the content was not stored');
    const { nextSeq, lastFileAt } = staged.allowance.known;
    const allowance = {
      limits: { ...ACCOUNT_LIMITS, storageLimitBytes: 10 },
      known: { nextSeq, lastFileAt, ...known },
    };
    const stale = { ...staged, allowance };
    const { file } = await settleUpload(stores, stale, inTime());
    expect(file.sizeBytes === 20).toBe(fits);
    await expectBalance(service, accountId, { files: 1, bytes: 20 });
  });

  test('an upload that cannot fit is not stored', async () => {
    const accountId = await newAccount(service);
    const mark = service.front.meter.mark();
    const hopeless = upload(service, accountId, randomBytes(2 * PART_BYTES), { storageLimitBytes: PART_BYTES - 1 });
    await expect(hopeless).rejects.toMatchObject({ code: 'storage_limit_exceeded' });
    expect(service.front.meter.since(mark).calls.map(({ operation }) => operation)).toEqual(['GetItem']);
  });
});

describe('an upload that ends early', () => {
  test.each([['in a later part', 2 * PART_BYTES + 1]])('%s leaves nothing behind', async (_, size) => {
    const accountId = await newAccount(service);
    const cut = new ApiError('invalid_request');
    await expect(stage(service, accountId, broken(randomBytes(size), cut))).rejects.toBe(cut);
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });

  test('an upload whose form turns out to be invalid after its file was stored leaves nothing behind', async () => {
    const accountId = await newAccount(service);
    const staged = await stageStored(accountId);
    await discardUpload(stores, staged.file);
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });

  test('an upload whose storage fails leaves at most an object that the walk of the bucket removes', async () => {
    const accountId = await newAccount(service);
    const before = await keysInBucket(service);
    const fault = service.front.faults.add({ match: { operation: 'PutObject' }, effect: 'error-after' });
    await expect(upload(service, accountId)).rejects.toMatchObject({ code: 'service_unavailable' });
    fault.remove();
    expect(await statesOf(service, accountId)).toEqual([]);
    expect(await keysInBucket(service)).toHaveLength(before.length + 1);
    await walkLater();
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });

  test('an upload that cannot store a part removes its other parts', async () => {
    const accountId = await newAccount(service);
    let calls = 0;
    const predicate = ({ operation }: { operation: string }) => operation === 'UploadPart' && ++calls > 1;
    const fault = service.front.faults.add({ match: { predicate }, effect: 'error-before' });
    const before = await openParts(service);
    const uploading = upload(service, accountId, randomBytes(2 * PART_BYTES));
    await expect(uploading).rejects.toMatchObject({ code: 'service_unavailable' });
    fault.remove();
    expect(await openParts(service)).toEqual(before);
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });
});

test('an upload whose parts were removed meanwhile fails with timeout, and leaves nothing behind', async () => {
  const accountId = await newAccount(service);
  const mark = service.front.meter.mark();
  const operations = () => service.front.meter.since(mark).calls.map(({ operation }) => operation);
  async function* content() {
    yield randomBytes(PART_BYTES + 1);
    // Wait until the upload of the first part has begun.
    await expect.poll(operations).toContain('UploadPart');
    const { Uploads = [] } = await service.s3.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }));
    for (const { Key, UploadId } of Uploads) {
      await service.s3.send(new AbortMultipartUploadCommand({ Bucket: BUCKET, Key, UploadId }));
    }
    yield randomBytes(PART_BYTES);
  }
  await expect(stage(service, accountId, content())).rejects.toMatchObject({ code: 'timeout' });
  expect(await openParts(service)).toEqual([]);
  await expectBalance(service, accountId, { files: 0, bytes: 0 });
});

/** Stores the content of an upload, and does not settle it. */
async function stageStored(accountId: string) {
  const staged = await stage(service, accountId, chunks('hello'));
  if (staged.kind !== 'stored') throw new Error('the content was not stored');
  return staged;
}

async function walkLater() {
  await forgetWalk(service);
  await sweepAll(service, Date.now() + 48 * HOUR_MS);
}

describe('settling an upload', () => {
  test.each([
    ['a connection that ends before the write', 'cut'],
    ['a connection that ends after the write', 'cut-after'],
    ['an error before the write', 'error-before'],
    ['an error after the write', 'error-after'],
    ['a write that gets no answer', 'timeout'],
  ] as const)('survives %s', async (_name, effect) => {
    const accountId = await newAccount(service);
    service.front.faults.add({ match: { operation: 'TransactWriteItems' }, effect, times: 1 });
    await upload(service, accountId);
    await expectBalance(service, accountId, { files: 1, bytes: 5 });
  });

  test.each([
    ['happened', 'error-after', 'never', true],
    ['did not happen', 'error-before', 'never', false],
    ['happens before the retry', 'late', 'before', true],
    ['happens after the retry', 'late', 'after', false],
  ] as const)(
    'a settlement that loses all its answers is service_unavailable, and a retry with its key gives the one file, whole: the settlement %s',
    async (_, effect, when, isReplay) => {
      const accountId = await newAccount(service);
      const key = { idempotencyKey: 'k' };
      const late = Promise.withResolvers<void>();
      const fault = service.front.faults.add({
        match: { operation: 'TransactWriteItems' },
        effect: effect === 'late' ? { lateBy: late.promise } : effect,
        times: 3,
      });
      await expect(upload(service, accountId, 'hello', key)).rejects.toMatchObject({ code: 'service_unavailable' });
      expect(fault.hits).toBe(3);
      const happenLate = async () => {
        late.resolve();
        await fault.lateAnswers();
      };
      if (when === 'before') await happenLate();
      const retried = await upload(service, accountId, 'hello', key);
      expect(retried.isReplay).toBe(isReplay);
      if (when === 'after') await happenLate();
      await walkLater();
      await expectBalance(service, accountId, { files: 1, bytes: 5 });
      expect(await getFile(stores, { accountId, id: retried.file.id })).toMatchObject(retried.file);
    },
  );

  test('a settlement that happens after its client got an error makes a file that is whole, charged and listed', async () => {
    const accountId = await newAccount(service);
    const late = Promise.withResolvers<void>();
    const fault = service.front.faults.add({
      match: { operation: 'TransactWriteItems' },
      effect: { lateBy: late.promise },
      times: 3,
    });
    await expect(upload(service, accountId)).rejects.toMatchObject({ code: 'service_unavailable' });
    late.resolve();
    await fault.lateAnswers();
    await expectBalance(service, accountId, { files: 1, bytes: 5 });
  });

  test('an object whose settlement can no longer happen is removed by the walk of the bucket', async () => {
    const accountId = await newAccount(service);
    const before = await keysInBucket(service);
    service.front.faults.add({ match: { operation: 'TransactWriteItems' }, effect: 'error-before', times: 3 });
    await expect(upload(service, accountId)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await keysInBucket(service)).toHaveLength(before.length + 1);
    await walkLater();
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });

  test('a refused settlement removes its object at once', async () => {
    const accountId = await newAccount(service);
    const staged = await stageStored(accountId);
    await upload(service, accountId, 'other');
    const full = { ...ACCOUNT_LIMITS, storageLimitBytes: 5 };
    const refused = settleUpload(stores, { ...staged, allowance: { ...staged.allowance, limits: full } }, inTime());
    await expect(refused).rejects.toMatchObject({ code: 'storage_limit_exceeded' });
    await expectBalance(service, accountId, { files: 1, bytes: 5 });
  });

  test('a refusal is service_unavailable, and keeps the object, while an earlier request of the settlement may find room', async () => {
    const accountId = await newAccount(service);
    const { file: other } = await upload(service, accountId, 'other');
    const staged = await stageStored(accountId);
    const late = Promise.withResolvers<void>();
    const fault = service.front.faults.add({
      match: { operation: 'TransactWriteItems' },
      effect: { lateBy: late.promise },
      times: 1,
    });
    const full = { ...ACCOUNT_LIMITS, storageLimitBytes: 5 };
    const refused = settleUpload(stores, { ...staged, allowance: { ...staged.allowance, limits: full } }, inTime());
    await expect(refused).rejects.toMatchObject({ code: 'service_unavailable' });
    await deleteFile(stores, other, inTime());
    late.resolve();
    await fault.lateAnswers();
    expect(await getFile(stores, { accountId, id: staged.file.id })).toMatchObject(staged.file);
    await expectBalance(service, accountId, { files: 1, bytes: 5 });
  });

  test('a settlement whose account was suspended meanwhile is unauthorized, and removes its object', async () => {
    const accountId = await newAccount(service);
    const staged = await stageStored(accountId);
    await service.engine.send(
      new UpdateItemCommand({
        TableName: service.tables.accounts,
        Key: { id: { S: accountId } },
        UpdateExpression: 'SET suspended = :true',
        ExpressionAttributeValues: { ':true': { BOOL: true } },
      }),
    );
    await expect(settleUpload(stores, staged, inTime())).rejects.toMatchObject({ code: 'unauthorized' });
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });

  test('several attempts to settle the same upload at the same time charge it once', async () => {
    const accountId = await newAccount(service);
    const staged = await stage(service, accountId, chunks('hello'));
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => settleUpload(stores, staged, inTime())));
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
    await expectBalance(service, accountId, { files: 1, bytes: 5 });
  });

  test('gives every file a seq of its own and leaves none out, however many are settled at once', async () => {
    const accountId = await newAccount(service);
    await Promise.all(Array.from({ length: 16 }, () => upload(service, accountId, 'x')));
    const { files } = await stores.listing.files(accountId, { low: 0, high: 100 });
    expect(files.map(({ seq }) => seq)).toEqual(Array.from({ length: 16 }, (_, index) => 15 - index));
    expect((await stores.accounts.get(accountId))?.nextSeq).toBe(16);
    await expectBalance(service, accountId, { files: 16, bytes: 16 });
  });

  test('reads the account again when another file of the account was settled meanwhile', async () => {
    const accountId = await newAccount(service);
    const [one, two] = [await stageStored(accountId), await stageStored(accountId)];
    const mark = service.front.meter.mark();
    for (const staged of [one, two]) await settleUpload(stores, staged, inTime());
    const operations = service.front.meter.since(mark).calls.map(({ operation }) => operation);
    expect(operations).toEqual(['TransactWriteItems', 'TransactWriteItems', 'GetItem', 'TransactWriteItems']);
    await expectBalance(service, accountId, { files: 2, bytes: 10 });
  });

  test('never dates a file before an older one, even when a clock is behind', async () => {
    const accountId = await newAccount(service);
    const now = Date.now();
    const { file: first } = await upload(service, accountId, '1', { clock: () => now + 5_000 });
    const { file: second } = await upload(service, accountId, '2', { clock: () => now });
    const { file: third } = await upload(service, accountId, '3', { clock: () => now + 6_000 });
    expect([first, second, third].map(({ createdAt }) => createdAt - now)).toEqual([5_000, 5_000, 6_000]);
  });
});

const inChunks = (content: Buffer, size: number) =>
  chunks(
    ...Array.from({ length: Math.ceil(content.length / size) }, (_, i) => content.subarray(i * size, (i + 1) * size)),
  );
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
