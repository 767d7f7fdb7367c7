import { PutObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, test } from 'vitest';
import { findPublished, type PublishedObject, takeDown } from '../../../shared/administration/take-down.ts';
import { deleteFile } from '../../../shared/files/delete-file.ts';
import { objectKeyOfLink } from '../../../shared/files/object-key.ts';
import { inTime, newAccount, sweepLater, upload } from '../files/actions.ts';
import { expectBalance, keysInBucket } from '../files/observe.ts';
import { BUCKET, startService } from '../files/service.ts';

const service = await startService();
const { stores } = service;

async function published(key: string): Promise<PublishedObject> {
  const found = await findPublished(stores, key);
  if (!found) throw new Error(`there is no file under the key ${key}`);
  return found;
}

describe('taking a link down', () => {
  test('is harmless when the owner deletes the file at the same time', async () => {
    const accountId = await newAccount(service);
    const { file } = await upload(service, accountId);
    const found = await published(file.objectKey);
    await deleteFile(stores, file, inTime());
    await takeDown(stores, found, inTime());
    expect(await findPublished(stores, file.objectKey)).toBeUndefined();
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });

  test('removes an object that a deletion has not removed yet', async () => {
    const accountId = await newAccount(service);
    const { file } = await upload(service, accountId);
    const row = await stores.files.get(file);
    if (row?.state !== 'ready') throw new Error('the file is not ready');
    await stores.releases.releaseFile(row, { now: Date.now(), dueAt: Date.now() }, inTime());
    const found = await published(file.objectKey);
    expect(found.file).toBeUndefined();
    await takeDown(stores, found, inTime());
    expect(await keysInBucket(service)).not.toContain(file.objectKey);
    await sweepLater(service, accountId);
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });

  test('fails when the object cannot be removed', async () => {
    const { file } = await upload(service, await newAccount(service));
    const found = await published(file.objectKey);
    const fault = service.front.faults.add({ match: { operation: 'DeleteObject' }, effect: 'error-before' });
    await expect(takeDown(stores, found, inTime())).rejects.toMatchObject({ code: 'service_unavailable' });
    fault.remove();
    await takeDown(stores, found, inTime());
    expect(await findPublished(stores, file.objectKey)).toBeUndefined();
  });

  test('finds nothing under an unknown key, nor an object that we did not write', async () => {
    expect(await findPublished(stores, 'uploads/nothing')).toBeUndefined();
    await service.s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'uploads/alien', Body: 'x' }));
    expect(await findPublished(stores, 'uploads/alien')).toBeUndefined();
  });
});

test.each([
  ['https://cdn.example.com/uploads/abc123XYZ/a.txt', 'uploads/abc123XYZ'],
  ['https://CDN.example.com/uploads/abc/%C3%A4%20b.txt?x=1#y', 'uploads/abc'],
  ['http://cdn.example.com/uploads/abc', 'uploads/abc'],
])('the link %j has the key %s', (link, key) => {
  expect(objectKeyOfLink(link, ['https://cdn.example.com'])).toBe(key);
});

test.each([
  'https://cdn.example.com/uploads/',
  'https://cdn.example.com/uploads/a-b/x',
  'https://cdn.example.com/x/uploads/abc/x',
  'https://cdn.example.com:444/uploads/abc/x',
  'https://evil.com/https://cdn.example.com/uploads/abc/x',
])('the text %j is not a link', (text) => {
  expect(objectKeyOfLink(text, ['https://cdn.example.com'])).toBeUndefined();
});

test('a link is recognised at every address that serves files, and at no other', () => {
  const addresses = ['https://cdn.example.com', 'https://d1.cloudfront.net'];
  const keys = [...addresses, 'https://d2.cloudfront.net'].map((url) =>
    objectKeyOfLink(`${url}/uploads/abc`, addresses),
  );
  expect(keys).toEqual(['uploads/abc', 'uploads/abc', undefined]);
});
