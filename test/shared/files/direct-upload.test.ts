import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from 'vitest';
import { completeUpload } from '../../../shared/files/complete-upload.ts';
import { deleteFile } from '../../../shared/files/delete-file.ts';
import { getFile } from '../../../shared/files/get-file.ts';
import { incomingKey } from '../../../shared/files/object-key.ts';
import { settleUploadedObject } from '../../../shared/files/settle-uploaded-object.ts';
import { DIRECT_TICKET_TTL_SECONDS } from '../../../shared/limits.ts';
import { askForTicket, inTime, newAccount, newTicket, put, sweepAt, sweepLater, uploadDirectly } from './actions.ts';
import { expectBalance, keysInBucket, readObject, statesOf, usageOf } from './observe.ts';
import { startService } from './service.ts';

const service = await startService();
const { stores } = service;

const complete = (accountId: string, id: string) => completeUpload(stores, { accountId, id }, inTime());
const event = (accountId: string, id: string) => settleUploadedObject(stores, incomingKey({ accountId, id }), inTime());
const cancel = (accountId: string, id: string) => deleteFile(stores, { accountId, id }, inTime());

describe('a ticket', () => {
  test('reserves its size at once, and is no file', async () => {
    const accountId = await newAccount(service);
    const { id, expiresAt } = await newTicket(service, accountId, 7);
    expect(await usageOf(service, accountId)).toEqual({ bytes: 7, files: 0 });
    expect(expiresAt - Date.now()).toBeLessThanOrEqual(15 * 60_000);
    await expect(getFile(stores, { accountId, id })).rejects.toMatchObject({ code: 'not_found' });
  });

  test.each([
    ['a byte less', 59, true],
    ['exactly as long', 60, true],
    ['a byte longer', 61, false],
  ])('is given as long as the account has room: %s', async (_, size, fits) => {
    const accountId = await newAccount(service);
    await newTicket(service, accountId, 40, { storageLimitBytes: 100 });
    const asking = newTicket(service, accountId, size, { storageLimitBytes: 100 });
    if (!fits) await expect(asking).rejects.toMatchObject({ code: 'storage_limit_exceeded' });
    else await asking;
    expect(await usageOf(service, accountId)).toEqual({ bytes: fits ? 40 + size : 40, files: 0 });
  });

  test('of an empty file is given to a full account', async () => {
    const accountId = await newAccount(service);
    const options = { storageLimitBytes: 0 };
    const { id, put: signed } = await newTicket(service, accountId, 0, options);
    expect(await put({ id, put: signed, expiresAt: 0 }, '')).toBe(200);
    expect(await complete(accountId, id)).toMatchObject({ sizeBytes: 0 });
    await expectBalance(service, accountId, { files: 1, bytes: 0 });
  });

  test('that nobody uses gives its reservation back at its deadline, and not before', async () => {
    const accountId = await newAccount(service);
    const now = Date.now();
    await newTicket(service, accountId, 7, { clock: () => now });
    await sweepAt(service, now + DIRECT_TICKET_TTL_SECONDS * 1_000 - 1);
    expect(await usageOf(service, accountId)).toEqual({ bytes: 7, files: 0 });
    await sweepAt(service, now + DIRECT_TICKET_TTL_SECONDS * 1_000);
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });
});

describe('the URL of a ticket', () => {
  const checksum = (content: string) => createHash('sha256').update(content).digest('base64');

  test.each([
    ['a byte less', 'hell'],
    ['a byte more', 'hello!'],
  ])('takes exactly its bytes, not %s', async (_, body) => {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5);
    expect(await put(ticket, body)).toBe(403);
    await expect(complete(accountId, ticket.id)).rejects.toMatchObject({ code: 'upload_incomplete' });
    await cancel(accountId, ticket.id);
    await sweepLater(service);
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });

  test('takes exactly its type', async () => {
    const ticket = await newTicket(service, await newAccount(service), 5);
    expect(await put(ticket, 'hello', { 'Content-Type': 'text/html' })).toBe(403);
  });

  test('takes exactly its checksum, which is signed and checked', async () => {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5, { checksumSha256: checksum('hello') });
    expect(await put(ticket, 'jello')).toBe(400);
    expect(await put(ticket, 'jello', { 'x-amz-checksum-sha256': checksum('jello') })).toBe(403);
    expect(await put(ticket, 'hello')).toBe(200);
  });

  test('takes one PUT', async () => {
    const ticket = await newTicket(service, await newAccount(service), 5);
    expect(await put(ticket, 'hello')).toBe(200);
    expect(await put(ticket, 'hello')).toBe(412);
  });

  test('asks the client for no header that it cannot set', async () => {
    const ticket = await newTicket(service, await newAccount(service), 5, { checksumSha256: checksum('hello') });
    expect(Object.keys(ticket.put.headers)).toEqual(['Content-Type', 'If-None-Match', 'x-amz-checksum-sha256']);
  });
});

describe('completing', () => {
  test('makes the bytes a file of the ticket’s name and type, under a key that the URL does not tell', async () => {
    const accountId = await newAccount(service);
    const content = randomBytes(100_000);
    const ticket = await newTicket(service, accountId, content.length, { name: 'ä b.bin' });
    expect(await put(ticket, content)).toBe(200);
    const file = await complete(accountId, ticket.id);
    expect(file).toMatchObject({ id: ticket.id, name: 'ä b.bin', sizeBytes: content.length });
    expect(file.objectKey).toMatch(/^uploads\/[0-9A-Za-z]{22}$/);
    const object = await readObject(service, file.objectKey);
    expect(object.bytes.equals(content)).toBe(true);
    expect(object).toMatchObject({
      ContentType: 'application/octet-stream',
      ContentDisposition: expect.stringContaining('attachment'),
      Metadata: { file: `${accountId}/${ticket.id}` },
    });
    await expectBalance(service, accountId, { files: 1, bytes: content.length });
  });

  test('before the bytes have arrived is upload_incomplete, and can be tried again', async () => {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5);
    await expect(complete(accountId, ticket.id)).rejects.toMatchObject({ code: 'upload_incomplete' });
    await put(ticket, 'hello');
    await complete(accountId, ticket.id);
    await expectBalance(service, accountId, { files: 1, bytes: 5 });
  });

  test('again gives the same file', async () => {
    const accountId = await newAccount(service);
    const file = await uploadDirectly(service, accountId, 'hello');
    expect(await complete(accountId, file.id)).toMatchObject(file);
  });

  test.each([
    ['another account’s ticket', async (ticketId: string) => ({ accountId: await newAccount(service), id: ticketId })],
    ['an unknown id', async (_: string, accountId: string) => ({ accountId, id: randomUUID() })],
    ['the account’s own counters', async (_: string, accountId: string) => ({ accountId, id: '#seq' })],
  ])('%s is not_found', async (_, refOf) => {
    const accountId = await newAccount(service);
    await uploadDirectly(service, accountId, 'hello');
    const ticket = await newTicket(service, accountId, 5);
    await put(ticket, 'hello');
    const ref = await refOf(ticket.id, accountId);
    const notFound = { code: 'not_found' };
    await expect(completeUpload(stores, ref, inTime())).rejects.toMatchObject(notFound);
    await expect(getFile(stores, ref)).rejects.toMatchObject(notFound);
    await expect(deleteFile(stores, ref, inTime())).rejects.toMatchObject(notFound);
    expect(await usageOf(service, accountId)).toEqual({ bytes: 10, files: 1 });
    await cancel(accountId, ticket.id);
    await sweepLater(service);
  });

  test('several times at once, and by the event, makes one file, and leaves one copy', async () => {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5);
    await put(ticket, 'hello');
    const all = await Promise.all(
      [1, 2, 3].map(() => complete(accountId, ticket.id)).concat(event(accountId, ticket.id) as never),
    );
    expect(new Set(all.slice(0, 3).map(({ objectKey }) => objectKey)).size).toBe(1);
    await sweepLater(service);
    await expectBalance(service, accountId, { files: 1, bytes: 5 });
  });

  test('tidies up after an attempt that died, even though that one’s copy comes late', async () => {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5);
    await put(ticket, 'hello');
    const ref = { accountId, id: ticket.id };
    const late = `uploads/${randomUUID().replaceAll('-', '')}`;
    await stores.files.recordAttempt(ref, late);
    await complete(accountId, ticket.id);
    await stores.objects.put(late, Buffer.from('hello'), { owner: ref, mimeType: 'a/b', contentDisposition: 'inline' });
    expect((await sweepAt(service, Date.now() + 6 * 60_000)).swept.leftovers).toBe(1);
    await expectBalance(service, accountId, { files: 1, bytes: 5 });
  });
});

describe('the event', () => {
  test('makes the file when its client never comes back', async () => {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5);
    await put(ticket, 'hello');
    expect(await event(accountId, ticket.id)).toBe('settled');
    expect(await event(accountId, ticket.id)).toBe('nothing waits');
    expect(await complete(accountId, ticket.id)).toMatchObject({ id: ticket.id });
    await expectBalance(service, accountId, { files: 1, bytes: 5 });
  });

  test.each([
    ['was cancelled', cancel],
    ['is over', () => sweepLater(service)],
    [
      'was used',
      async (accountId: string, id: string, use: () => Promise<number>) => {
        await use();
        await complete(accountId, id);
      },
    ],
    [
      'was used, and its file deleted',
      async (accountId: string, id: string, use: () => Promise<number>) => {
        await use();
        await complete(accountId, id);
        await cancel(accountId, id);
      },
    ],
  ])('of bytes for a ticket that %s throws them away', async (_, end) => {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5);
    await end(accountId, ticket.id, () => put(ticket, 'hello'));
    const usage = await usageOf(service, accountId);
    expect(await put(ticket, 'hello')).toBe(200);
    expect(await event(accountId, ticket.id)).toBe('nothing waits');
    expect(await usageOf(service, accountId)).toEqual(usage);
    expect(await keysInBucket(service)).not.toContain(incomingKey({ accountId, id: ticket.id }));
  });

  test.each(['uploads/x', 'incoming/', 'incoming/a/b', `incoming/${randomUUID()}/#seq`])(
    'of a key that is none of ours (%s) does nothing',
    async (key) => {
      expect(await settleUploadedObject(stores, key, inTime())).toBe('nothing waits');
    },
  );

  test('that cannot be handled now is to come again', async () => {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5);
    await put(ticket, 'hello');
    const fault = service.front.faults.add({ match: { operation: 'CopyObject' }, effect: 'error-before' });
    await expect(event(accountId, ticket.id)).rejects.toMatchObject({ code: 'service_unavailable' });
    fault.remove();
    expect(await event(accountId, ticket.id)).toBe('settled');
    await sweepLater(service);
    await expectBalance(service, accountId, { files: 1, bytes: 5 });
  });
});

describe('cancelling', () => {
  test('gives the reservation back at once, and removes the bytes that have arrived', async () => {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5);
    await put(ticket, 'hello');
    await cancel(accountId, ticket.id);
    expect(await usageOf(service, accountId)).toEqual({ bytes: 0, files: 0 });
    expect(await keysInBucket(service)).not.toContain(incomingKey({ accountId, id: ticket.id }));
    await expect(cancel(accountId, ticket.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(complete(accountId, ticket.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('keeps the row until the deadline, so that bytes which come late are removed although no event tells', async () => {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5);
    await cancel(accountId, ticket.id);
    await put(ticket, 'hello');
    expect(await statesOf(service, accountId)).toEqual(['cancelled']);
    await sweepLater(service);
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });

  test.each([1, 2, 3, 4, 5])('at once with completing and the event, one of them wins (%i)', async () => {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5);
    await put(ticket, 'hello');
    const [completed, cancelled] = await Promise.allSettled([
      complete(accountId, ticket.id),
      cancel(accountId, ticket.id),
      event(accountId, ticket.id),
    ]);
    // A cancel that meets a ready file deletes it: then both may succeed.
    expect([completed.status, cancelled.status]).toContain('fulfilled');
    if (cancelled.status === 'rejected') expect(cancelled.reason).toMatchObject({ code: 'not_found' });
    if (completed.status === 'rejected')
      expect(completed.reason).toMatchObject({ code: /not_found|upload_incomplete/ });
    await sweepLater(service);
    const isThere = cancelled.status === 'rejected';
    await expectBalance(service, accountId, isThere ? { files: 1, bytes: 5 } : { files: 0, bytes: 0 });
  });
});

test('a ticket settles within a limit that was lowered since, because its size is charged already', async () => {
  const accountId = await newAccount(service);
  const ticket = await newTicket(service, accountId, 5);
  await service.engine.send(
    new UpdateItemCommand({
      TableName: service.tables.accounts,
      Key: { id: { S: accountId } },
      UpdateExpression: 'SET storage_limit_bytes = :none',
      ExpressionAttributeValues: { ':none': { N: '0' } },
    }),
  );
  await put(ticket, 'hello');
  await complete(accountId, ticket.id);
  await expect(askForTicket(service, accountId, 1)).rejects.toMatchObject({ code: 'storage_limit_exceeded' });
  await expectBalance(service, accountId, { files: 1, bytes: 5 });
});

describe('a reservation whose answer is lost', () => {
  test.each(['error-after', 'error-before'] as const)('for good (%s) is given back', async (effect) => {
    const accountId = await newAccount(service);
    service.front.faults.add({ match: { operation: 'TransactWriteItems' }, effect, times: 3 });
    await expect(newTicket(service, accountId, 5)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await usageOf(service, accountId)).toEqual({ bytes: 0, files: 0 });
    await sweepLater(service);
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });
});
