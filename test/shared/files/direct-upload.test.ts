import { randomBytes, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { CreateMultipartUploadCommand } from '@aws-sdk/client-s3';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Fault } from '../../../local-aws/service.ts';
import { directTicketMs } from '../../../shared/contract/limits.ts';
import { serviceUnavailable, undefinedIfNotFound } from '../../../shared/errors.ts';
import { cancelTicket } from '../../../shared/files/cancel-ticket.ts';
import { completeArrivedUpload, completeUpload } from '../../../shared/files/complete-upload.ts';
import { createTicket, type IssuedTicket } from '../../../shared/files/create-ticket.ts';
import { deleteFile } from '../../../shared/files/delete-file.ts';
import { incomingKey, newObjectKey } from '../../../shared/files/object-key.ts';
import { COPY_PART_BYTES } from '../../../shared/files/parts.ts';
import { keepFromMidnight } from '../../support/midnight.ts';
import {
  ACCOUNT_LIMITS,
  askForTicket,
  HOUR_MS,
  inTime,
  MIB,
  newAccount,
  newTicket,
  put,
  sweepAt,
  sweepLater,
  uploadDirectly,
} from './actions.ts';
import { expectBalance, keysInBucket, openParts, readObject, statesOf, usageOf } from './observe.ts';
import { BUCKET, startService } from './service.ts';

const service = await startService();
const { stores } = service;

const complete = (accountId: string, id: string) => completeUpload(stores, { accountId, id }, inTime());
const event = (accountId: string, id: string) =>
  completeArrivedUpload(stores, incomingKey({ accountId, id }), inTime());
const cancel = (accountId: string, id: string) => cancelTicket(stores, { accountId, id }, inTime());

/** A PUT that sends its first bytes at once, and the rest when the test says so. */
function beginPut({ put: { url, headers } }: IssuedTicket, first: Uint8Array) {
  const outgoing = request(url, { method: 'PUT', headers: { ...headers, 'Content-Length': String(MIB) } });
  const answered = new Promise<number>((resolve, reject) => {
    outgoing.on('error', reject).on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
  });
  outgoing.write(first);
  return {
    end(rest: Uint8Array): Promise<number> {
      outgoing.end(rest);
      return answered;
    },
  };
}

async function suspend(accountId: string): Promise<void> {
  await service.engine.send(
    new UpdateItemCommand({
      TableName: service.tables.accounts,
      Key: { id: { S: accountId } },
      UpdateExpression: 'SET suspended = :now',
      ExpressionAttributeValues: { ':now': { S: new Date().toISOString() } },
    }),
  );
}

describe('a ticket', () => {
  test('a full account gets a ticket for an empty file', async () => {
    const accountId = await newAccount(service);
    const options = { storageLimitBytes: 0 };
    const { id, put: signed } = await newTicket(service, accountId, 0, options);
    expect(await put({ id, put: signed, expiresAt: 0 }, '')).toBe(200);
    expect(await complete(accountId, id)).toMatchObject({ sizeBytes: 0 });
    await expectBalance(service, accountId, { files: 1, bytes: 0 });
  });

  test.each([
    [0, 20 * 60],
    [1, 20 * 60 + 1],
    [16 * 1024 * 60, 21 * 60],
    [5_000 * MIB, 20 * 60 + 320_000],
  ])(
    'a ticket of %i bytes holds its room for %i seconds: the life of its URL, the slowest upload, and five minutes',
    async (size, seconds) => {
      const accountId = await newAccount(service);
      const now = Date.now();
      const options = { clock: () => now, maxBytes: size, storageLimitBytes: size };
      const { id } = await newTicket(service, accountId, size, options);
      expect(await stores.tickets.get({ accountId, id })).toMatchObject({ endsAt: now + seconds * 1_000 });
      await cancel(accountId, id);
      await sweepAt(service, now + seconds * 1_000, accountId);
      await expectBalance(service, accountId, { files: 0, bytes: 0 });
    },
  );

  test('becomes a file even if its PUT is still under way long after the URL has expired', async () => {
    const accountId = await newAccount(service);
    const content = randomBytes(MIB);
    const now = Date.now();
    const ticket = await newTicket(service, accountId, content.length, { clock: () => now });
    const slow = beginPut(ticket, content.subarray(0, 1_000));
    await sweepAt(service, now + (20 * 60 + 50) * 1_000, accountId);
    expect(await slow.end(content.subarray(1_000))).toBe(200);
    await complete(accountId, ticket.id);
    await sweepLater(service, accountId);
    await expectBalance(service, accountId, { files: 1, bytes: content.length });
  });

  test('is renewed for its whole time when it is requested again with the same Idempotency-Key', async () => {
    const accountId = await newAccount(service);
    const now = Date.now();
    const ask = (clock: () => number) => newTicket(service, accountId, 7, { idempotencyKey: 'k', clock });
    const first = await ask(() => now);
    const later = now + 10 * 60_000;
    expect(await ask(() => later)).toMatchObject({ id: first.id, expiresAt: first.expiresAt + 10 * 60_000 });
    await sweepAt(service, later + directTicketMs(7) - 1, accountId);
    expect(await usageOf(service, accountId)).toEqual({ bytes: 7, files: 0 });
    await sweepAt(service, later + directTicketMs(7), accountId);
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });
});

test('a renewal that arrives late does not shorten a later one', async () => {
  const accountId = await newAccount(service);
  const now = Date.now();
  const ask = (after: number) =>
    newTicket(service, accountId, 7, { idempotencyKey: 'k', clock: () => now + after * 60_000 });
  const { id } = await ask(0);
  const late = Promise.withResolvers<void>();
  const fault = service.front.faults.add({
    match: { operation: 'UpdateItem' },
    effect: { lateBy: late.promise },
    times: 1,
  });
  await ask(1);
  await ask(2);
  late.resolve();
  await fault.lateAnswers();
  expect(await stores.tickets.get({ accountId, id })).toMatchObject({ endsAt: now + 2 * 60_000 + directTicketMs(7) });
});

describe('completing a ticket', () => {
  test('makes a file with the ticket’s name and type, under a key that the URL does not reveal', async () => {
    const accountId = await newAccount(service);
    const content = randomBytes(100_000);
    const ticket = await newTicket(service, accountId, content.length, { name: 'ä b.bin' });
    expect(await put(ticket, content)).toBe(200);
    const file = await complete(accountId, ticket.id);
    expect(file).toMatchObject({ id: ticket.id, name: 'ä b.bin', sizeBytes: content.length });
    expect(file.objectKey).toMatch(/^uploads\/[0-9A-Za-z]{22}$/);
    expect(ticket.put.url).not.toContain(file.objectKey.slice('uploads/'.length));
    const object = await readObject(service, file.objectKey);
    expect(object.bytes.equals(content)).toBe(true);
    expect(object).toMatchObject({
      ContentType: 'application/octet-stream',
      ContentDisposition: expect.stringContaining('attachment'),
      Metadata: { file: `${accountId}/${ticket.id}` },
    });
    await sweepLater(service, accountId);
    await expectBalance(service, accountId, { files: 1, bytes: content.length });
  });

  test('keeps the bytes that arrived until the ticket ends, so that S3 refuses further PUTs', async () => {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5);
    await put(ticket, 'hello');
    await complete(accountId, ticket.id);
    const arrived = incomingKey({ accountId, id: ticket.id });
    await sweepAt(service, Date.now() + 19 * 60_000, accountId);
    expect(await keysInBucket(service)).toContain(arrived);
    expect((await sweepAt(service, Date.now() + 21 * 60_000, accountId)).swept.leftovers).toBe(1);
    expect(await keysInBucket(service)).not.toContain(arrived);
    await expectBalance(service, accountId, { files: 1, bytes: 5 });
    expect((await sweepAt(service, Date.now() + HOUR_MS, accountId)).swept.leftovers).toBe(0);
  });

  test('removes the copy of an attempt that died, even when it appears late', async () => {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5);
    await put(ticket, 'hello');
    const ref = { accountId, id: ticket.id };
    const late = newObjectKey();
    await stores.tickets.beginAttempt(ref, { objectKey: late, until: Date.now() }, Date.now());
    await complete(accountId, ticket.id);
    await stores.objects.put(late, Buffer.from('hello'), { owner: ref, mimeType: 'a/b', contentDisposition: 'inline' });
    // An unfinished copy in parts under the same key.
    await service.s3.send(new CreateMultipartUploadCommand({ Bucket: BUCKET, Key: late }));
    expect((await sweepAt(service, Date.now() + HOUR_MS, accountId)).swept.leftovers).toBe(1);
    expect(await openParts(service)).not.toContain(late);
    await expectBalance(service, accountId, { files: 1, bytes: 5 });
  });
});

describe('attempts to complete a ticket', () => {
  async function arrived() {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5);
    await put(ticket, 'hello');
    return { accountId, id: ticket.id };
  }

  const isBegin = ({ input = {} }: { input?: object }) => JSON.stringify(input).includes('attempt_until = :until');
  test.each<[string, Fault]>([
    ['fails', { match: { operation: 'TransactWriteItems' }, effect: 'error-before' }],
    ['does not learn that it has begun', { match: { predicate: isBegin }, effect: 'error-after' }],
  ])('one that %s gives its lease back at once, and leaves no copy', async (_, fails) => {
    const ref = await arrived();
    const keys = await keysInBucket(service);
    const fault = service.front.faults.add(fails);
    await expect(complete(ref.accountId, ref.id)).rejects.toMatchObject({ code: 'service_unavailable' });
    fault.remove();
    expect(fault.hits).toBeGreaterThan(0);
    expect(await keysInBucket(service)).toEqual(keys);
    const beginnings: string[] = [];
    const beginAttempt: typeof stores.tickets.beginAttempt = async (...attempt) => {
      const outcome = await stores.tickets.beginAttempt(...attempt);
      beginnings.push(outcome);
      return outcome;
    };
    const noWait = { ...inTime(), patienceMs: 0 };
    await completeUpload({ ...stores, tickets: { ...stores.tickets, beginAttempt } }, ref, noWait);
    expect(beginnings).toEqual(['begun']);
    await sweepLater(service, ref.accountId);
    await expectBalance(service, ref.accountId, { files: 1, bytes: 5 });
  });

  test('one whose settlement loses its answer finds the file that it made', async () => {
    const ref = await arrived();
    const fault = service.front.faults.add({ match: { operation: 'TransactWriteItems' }, effect: 'error-after' });
    expect(await complete(ref.accountId, ref.id)).toMatchObject(ref);
    fault.remove();
    await sweepLater(service, ref.accountId);
    await expectBalance(service, ref.accountId, { files: 1, bytes: 5 });
  });

  test('one that sent its transaction twice returns the file of the delayed first request, although the second request found no room', async () => {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5);
    await put(ticket, 'hello');
    const { id: other } = await uploadDirectly(service, accountId, 'other');
    const late = Promise.withResolvers<void>();
    const fault = service.front.faults.add({
      match: { operation: 'TransactWriteItems' },
      effect: { lateBy: late.promise },
      times: 1,
    });
    const tickets = {
      ...stores.tickets,
      // The other file is deleted while the attempt ends, so the late settlement finds room.
      endAttempt: async (ref: { accountId: string; id: string }, objectKey: string) => {
        await deleteFile(stores, { accountId, id: other }, inTime());
        late.resolve();
        await fault.lateAnswers();
        return stores.tickets.endAttempt(ref, objectKey);
      },
    };
    const completing = { ...inTime(), fileCountLimit: 1 };
    const ref = { accountId, id: ticket.id };
    expect(await completeUpload({ ...stores, tickets }, ref, completing)).toMatchObject(ref);
    await sweepLater(service, accountId);
    await expectBalance(service, accountId, { files: 1, bytes: 5 });
  });

  test.each<
    [string, (accountId: string, deleteOther: () => Promise<unknown>, event: () => Promise<unknown>) => unknown, number]
  >([
    [
      'finds the file that the event has made, because there was room again',
      async (_accountId, deleteOther, handleEvent) => {
        await deleteOther();
        await handleEvent();
      },
      1,
    ],
    [
      'refuses a ticket that was renewed meanwhile, for good',
      (accountId) => newTicket(service, accountId, 5, { idempotencyKey: 'k', clock: () => Date.now() + 1_000 }),
      0,
    ],
  ])('one that found no room %s', async (_name, meanwhile, files) => {
    const accountId = await newAccount(service);
    const { id } = await uploadDirectly(service, accountId, 'other');
    const ticket = await newTicket(service, accountId, 5, { idempotencyKey: 'k' });
    await put(ticket, 'hello');
    const [ref, completing] = [
      { accountId, id: ticket.id },
      { ...inTime(), fileCountLimit: 1 },
    ];
    const deleteOther = () => deleteFile(stores, { accountId, id }, inTime()).catch(undefinedIfNotFound);
    const handleEvent = () => completeArrivedUpload(stores, incomingKey(ref), completing);
    // The attempt has given its lease back, and has not refused the ticket yet.
    const meanwhiles = [meanwhile];
    const objects = {
      ...stores.objects,
      remove: async (key: string) => {
        await meanwhiles.pop()?.(accountId, deleteOther, handleEvent);
        await stores.objects.remove(key);
      },
    };
    const answer = await completeUpload({ ...stores, objects }, ref, completing).catch(({ code }) => code);
    expect(answer).toEqual(files === 1 ? expect.objectContaining(ref) : 'storage_limit_exceeded');
    await deleteOther();
    expect(await handleEvent()).toBe('nothing waits');
    await sweepLater(service, accountId);
    await expectBalance(service, accountId, { files, bytes: 5 * files });
  });

  test('the second gets 503 while the first holds its lease too long, and the event takes over when the lease has ended', async () => {
    const ref = await arrived();
    const lease = { objectKey: newObjectKey(), until: Date.now() + 10 * 60_000 };
    expect(await stores.tickets.beginAttempt(ref, lease, Date.now())).toBe('begun');
    expect(await stores.tickets.beginAttempt(ref, { ...lease, objectKey: newObjectKey() }, Date.now())).toBe('busy');
    await expect(complete(ref.accountId, ref.id)).rejects.toMatchObject({
      code: 'service_unavailable',
      headers: { 'Retry-After': '2' },
    });
    // The function of the event waits for the lease. It must not fail, because its failures count as defects.
    let reads = 0;
    const get: typeof stores.tickets.get = (asked) => {
      reads += 1;
      return stores.tickets.get(asked);
    };
    // The lease ends when the function has looked at the ticket for the fourth time.
    const clock = () => (reads < 4 ? Date.now() : lease.until);
    const watched = { ...stores, tickets: { ...stores.tickets, get } };
    expect(await completeArrivedUpload(watched, incomingKey(ref), inTime(), clock)).toBe('settled');
    await sweepLater(service, ref.accountId);
    await expectBalance(service, ref.accountId, { files: 1, bytes: 5 });
  });

  test('one that the event has begun and that dies blocks the client for half a minute, not for the two minutes that its function may take', async () => {
    const ref = await arrived();
    const copy = () => Promise.reject(new Error('died'));
    const endAttempt = () => Promise.reject(new Error('died'));
    const dying = { ...stores, objects: { ...stores.objects, copy }, tickets: { ...stores.tickets, endAttempt } };
    const twoMinutes = { ...inTime(), deadlineAt: Date.now() + 113_000 };
    await expect(completeUpload(dying, ref, twoMinutes)).rejects.toThrow('died');
    const inHalfAMinute = Date.now() + 31_000;
    expect(await stores.tickets.beginAttempt(ref, { objectKey: newObjectKey(), until: 0 }, Date.now())).toBe('busy');
    expect(await completeUpload(stores, ref, inTime(), () => inHalfAMinute)).toMatchObject(ref);
    await sweepLater(service, ref.accountId);
    await expectBalance(service, ref.accountId, { files: 1, bytes: 5 });
  });

  test('one whose lease has passed to another cannot settle any more', async () => {
    const ref = await arrived();
    const late = newObjectKey();
    await stores.tickets.beginAttempt(ref, { objectKey: late, until: Date.now() }, Date.now());
    const ticket = await stores.tickets.get(ref);
    if (ticket?.state !== 'pending') throw new Error('the ticket is not pending');
    const next = { objectKey: newObjectKey(), until: Date.now() + 1_000 };
    expect(await stores.tickets.beginAttempt(ref, next, Date.now())).toBe('begun');
    const file = { ...ref, name: 'a', mimeType: 'a/b', sizeBytes: 5, objectKey: late };
    const known = { nextSeq: 0, lastFileAt: 0 };
    const settlement = { ticket, file, known, now: Date.now(), fileCountLimit: 9 };
    expect(await stores.settlements.settleTicket(settlement, inTime())).toBe('not pending');
    expect(await stores.tickets.endAttempt(ref, late)).toBe('ended');
    expect(await stores.tickets.get(ref)).toMatchObject({ attemptUntil: next.until });
    await cancel(ref.accountId, ref.id);
    await sweepLater(service, ref.accountId);
    await expectBalance(service, ref.accountId, { files: 0, bytes: 0 });
  });

  test('one that has ended does not take its lease again by a request that arrives late', async () => {
    const ref = await arrived();
    const late = Promise.withResolvers<void>();
    const match = { operation: 'UpdateItem' };
    const fault = service.front.faults.add({ match, effect: { lateBy: late.promise }, times: 1 });
    const [first, second] = [newObjectKey(), newObjectKey()];
    const begin = (objectKey: string) =>
      stores.tickets.beginAttempt(ref, { objectKey, until: Date.now() + 600_000 }, Date.now());
    expect(await begin(first)).toBe('begun');
    await stores.tickets.endAttempt(ref, first);
    late.resolve();
    await fault.lateAnswers();
    expect(await begin(second)).toBe('begun');
    await cancel(ref.accountId, ref.id);
    await sweepLater(service, ref.accountId);
    await expectBalance(service, ref.accountId, { files: 0, bytes: 0 });
  });

  test('one that takes its lease twice, because the first answer was lost, holds it', async () => {
    const ref = await arrived();
    const lease = { objectKey: newObjectKey(), until: Date.now() + 60_000 };
    expect(await stores.tickets.beginAttempt(ref, lease, Date.now())).toBe('begun');
    expect(await stores.tickets.beginAttempt(ref, lease, Date.now())).toBe('begun');
    await cancel(ref.accountId, ref.id);
    await sweepLater(service, ref.accountId);
    await expectBalance(service, ref.accountId, { files: 0, bytes: 0 });
  });
});

describe('a file of more than one part', () => {
  const content = randomBytes(COPY_PART_BYTES + 1);

  async function arrived() {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, content.length);
    expect(await put(ticket, content)).toBe(200);
    return { accountId, id: ticket.id };
  }

  test('is copied in parts, complete and with the headers of any other file', async () => {
    const ref = await arrived();
    const mark = service.front.meter.mark();
    const { objectKey } = await complete(ref.accountId, ref.id);
    const copies = service.front.meter.since(mark).calls.filter(({ operation }) => operation === 'UploadPartCopy');
    expect(copies).toHaveLength(2);
    const object = await readObject(service, objectKey);
    expect(object.bytes.equals(content)).toBe(true);
    expect(object).toMatchObject({
      ContentType: 'application/octet-stream',
      ContentDisposition: expect.stringContaining('attachment'),
      Metadata: { file: `${ref.accountId}/${ref.id}` },
    });
    await sweepLater(service, ref.accountId);
    await expectBalance(service, ref.accountId, { files: 1, bytes: content.length });
  });

  test.each([
    ['removed', []],
    ['left to the sweeper if they cannot be removed', ['AbortMultipartUpload']],
  ])('is copied again when a part could not be copied, and its parts are %s', async (_, alsoBroken) => {
    const ref = await arrived();
    const faults = ['UploadPartCopy', ...alsoBroken].map((operation) =>
      service.front.faults.add({ match: { operation }, effect: 'error-before' }),
    );
    await expect(complete(ref.accountId, ref.id)).rejects.toMatchObject({ code: 'service_unavailable' });
    for (const fault of faults) fault.remove();
    expect(await openParts(service)).toHaveLength(alsoBroken.length);
    await complete(ref.accountId, ref.id);
    await sweepLater(service, ref.accountId);
    expect(await openParts(service)).toEqual([]);
    await expectBalance(service, ref.accountId, { files: 1, bytes: content.length });
  });

  test('is not a file when the sweeper takes its ticket while it is copied', async () => {
    const ref = await arrived();
    const swept = Promise.withResolvers<void>();
    const effect = { answeredAfter: swept.promise };
    const fault = service.front.faults.add({ match: { operation: 'UploadPartCopy' }, effect });
    const completed = expect(complete(ref.accountId, ref.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect.poll(() => fault.hits).toBeGreaterThan(0);
    await sweepLater(service, ref.accountId);
    swept.resolve();
    await completed;
    fault.remove();
    expect(await openParts(service)).toEqual([]);
    await expectBalance(service, ref.accountId, { files: 0, bytes: 0 });
  });
});

test('an object of another size than the ticket makes no file', async () => {
  const accountId = await newAccount(service);
  const { id } = await newTicket(service, accountId, 5);
  const ref = { accountId, id };
  // The signed URL takes no other size, so the object comes from somebody who may write to the bucket.
  const description = { owner: ref, mimeType: 'text/plain', contentDisposition: 'inline' };
  await stores.objects.put(incomingKey(ref), Buffer.from('hello you'), description);
  const facts = { bytes: 9, expected_bytes: 5 };
  await expect(complete(accountId, id)).rejects.toMatchObject({ code: 'upload_incomplete', facts });
  expect(await event(accountId, id)).toBe('refused');
  await sweepLater(service, accountId);
  await expectBalance(service, accountId, { files: 0, bytes: 0 });
});

describe('the event of arrived bytes', () => {
  test('removes bytes that arrive after their ticket has ended', async () => {
    const accountId = await newAccount(service);
    const unused = await newTicket(service, accountId, 5);
    const used = await newTicket(service, accountId, 5);
    await put(used, 'hello');
    await complete(accountId, used.id);
    await sweepLater(service, accountId);
    for (const ticket of [unused, used]) {
      expect(await put(ticket, 'hello')).toBe(200);
      expect(await event(accountId, ticket.id)).toBe('removed');
    }
    await expectBalance(service, accountId, { files: 1, bytes: 5 });
  });

  test('makes no file for a suspended account, and leaves no copy', async () => {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5);
    await suspend(accountId);
    expect(await put(ticket, 'hello')).toBe(200);
    const keys = await keysInBucket(service);
    expect(await event(accountId, ticket.id)).toBe('refused');
    expect(await put(ticket, 'hello')).toBe(412);
    expect(await keysInBucket(service)).toEqual(keys);
    await sweepLater(service, accountId);
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });

  test.each(['uploads/x', 'incoming/', 'incoming/a/b', `incoming/${randomUUID()}/#seq`])(
    'the event for a key that we did not sign (%s) does nothing',
    async (key) => {
      expect(await completeArrivedUpload(stores, key, inTime())).toBe('nothing waits');
    },
  );

  test('an event that cannot be handled now fails, so that it is delivered again', async () => {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5);
    await put(ticket, 'hello');
    const fault = service.front.faults.add({ match: { operation: 'CopyObject' }, effect: 'error-before' });
    await expect(event(accountId, ticket.id)).rejects.toMatchObject({ code: 'service_unavailable' });
    fault.remove();
    expect(await event(accountId, ticket.id)).toBe('settled');
    await sweepLater(service, accountId);
    await expectBalance(service, accountId, { files: 1, bytes: 5 });
  });
});

describe('cancelling a ticket', () => {
  test('leaves alone a ticket that was renewed since it was read', async () => {
    const accountId = await newAccount(service);
    const { id } = await newTicket(service, accountId, 5, { idempotencyKey: 'k' });
    const ref = { accountId, id };
    const asFirstRead = await stores.tickets.get(ref);
    if (!asFirstRead) throw new Error('there is no such ticket');
    const renewed = await newTicket(service, accountId, 5, { idempotencyKey: 'k', clock: () => Date.now() + 1_000 });
    expect(renewed.id).toBe(id);
    expect(await stores.releases.releaseTicket(asFirstRead, 'cancelled', inTime())).toBe('changed');
    expect(await put(renewed, 'hello')).toBe(200);
    await completeUpload(stores, ref, inTime());
    await deleteFile(stores, ref, inTime());
    await sweepLater(service, accountId);
  });

  test('cancels a ticket that is renewed between the read and the write of the cancellation', async () => {
    const accountId = await newAccount(service);
    const { id } = await newTicket(service, accountId, 5, { idempotencyKey: 'k' });
    const renewals = [() => newTicket(service, accountId, 5, { idempotencyKey: 'k', clock: () => Date.now() + 1_000 })];
    const tickets = {
      ...stores.tickets,
      get: async (ref: { accountId: string; id: string }) => {
        const ticket = await stores.tickets.get(ref);
        await renewals.pop()?.();
        return ticket;
      },
    };
    await cancelTicket({ ...stores, tickets }, { accountId, id }, inTime());
    expect(renewals).toEqual([]);
    expect(await statesOf(service, accountId)).toEqual(['cancelled']);
    expect(await usageOf(service, accountId)).toEqual({ bytes: 0, files: 0 });
    await sweepLater(service, accountId);
  });

  test.each([
    ['loses its connection before the empty object is stored', { effect: 'cut' }],
    ['fails to store the empty object', { effect: 'error-before' }],
    ['meets a conflict at each attempt to store the empty object', { effect: 'conflict' }],
  ] as const)('a cancellation that %s lets one PUT in, whose bytes make no file', async (_, { effect }) => {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5);
    const fault = service.front.faults.add({ match: { service: 's3', operation: 'PutObject' }, effect });
    await cancel(accountId, ticket.id);
    fault.remove();
    expect(await statesOf(service, accountId)).toEqual(['cancelled']);
    expect(await put(ticket, 'hello')).toBe(200);
    expect(await event(accountId, ticket.id)).toBe('nothing waits');
    expect(await put(ticket, 'hello')).toBe(412);
    await sweepLater(service, accountId);
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });

  test('a cancellation stores its empty object although it meets conflicts', async () => {
    const accountId = await newAccount(service);
    const ticket = await newTicket(service, accountId, 5);
    service.front.faults.add({ match: { operation: 'PutObject' }, effect: 'conflict', times: 2 });
    await cancel(accountId, ticket.id);
    expect(await put(ticket, 'hello')).toBe(412);
    await sweepLater(service, accountId);
  });

  test.each([1, 2, 3, 4, 5])(
    'a cancellation, a completion and the event of the bucket at the same time leave one file, or nothing (%i)',
    async () => {
      const accountId = await newAccount(service);
      const ticket = await newTicket(service, accountId, 5);
      await put(ticket, 'hello');
      const [completed, cancelled] = await Promise.allSettled([
        complete(accountId, ticket.id),
        cancel(accountId, ticket.id),
        event(accountId, ticket.id),
      ]);
      expect([completed.status, cancelled.status]).toContain('fulfilled');
      expect([completed.status, cancelled.status]).toContain('rejected');
      if (cancelled.status === 'rejected') expect(cancelled.reason).toMatchObject({ code: 'not_found' });
      if (completed.status === 'rejected')
        expect(completed.reason).toMatchObject({ code: /not_found|upload_incomplete/ });
      await sweepLater(service, accountId);
      const isThere = cancelled.status === 'rejected';
      await expectBalance(service, accountId, isThere ? { files: 1, bytes: 5 } : { files: 0, bytes: 0 });
    },
  );
});

test('a ticket settles although the limit was lowered since, because its size is charged already', async () => {
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

describe('a reservation that loses all its answers', () => {
  test.each([
    ['uses no storage in the end although the ticket was written', 'error-after'],
    ['uses no storage when the ticket was not written', 'error-before'],
  ] as const)('%s', async (_name, effect) => {
    const accountId = await newAccount(service);
    service.front.faults.add({ match: { operation: 'TransactWriteItems' }, effect, times: 3 });
    await expect(newTicket(service, accountId, 5)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await usageOf(service, accountId)).toEqual({ bytes: 0, files: 0 });
    await sweepLater(service, accountId);
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });
});

test('a reservation that loses its answers is given back although the time of its request is over', async () => {
  const accountId = await newAccount(service);
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { deadlineAt } = inTime();
  const predicate = () => {
    vi.setSystemTime(deadlineAt + 1);
    return true;
  };
  const match = { operation: 'TransactWriteItems', predicate };
  service.front.faults.add({ match, effect: 'error-after', times: 3 });
  const lost = newTicket(service, accountId, 5, { deadlineAt });
  await expect(lost).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(await usageOf(service, accountId)).toEqual({ bytes: 0, files: 0 });
});

test('a reservation whose answer is lost leaves alone the ticket that a repeated request has got meanwhile', async () => {
  const accountId = await newAccount(service);
  const now = Date.now();
  const ask = (clock: () => number) => newTicket(service, accountId, 5, { idempotencyKey: 'k', clock });
  let repeated: Promise<IssuedTicket> | undefined;
  const settlements = {
    ...stores.settlements,
    reserve: async (...args: Parameters<typeof stores.settlements.reserve>) => {
      await stores.settlements.reserve(...args);
      // Its machine's clock is behind.
      repeated = ask(() => now - 1);
      await repeated;
      throw serviceUnavailable(new Error('the answer is lost'));
    },
  };
  const request = { name: 'direct.bin', mimeType: 'application/octet-stream', sizeBytes: 5 };
  const input = { accountId, request, limits: ACCOUNT_LIMITS, idempotencyKey: 'k', ...inTime() };
  await expect(createTicket({ ...stores, settlements }, input, () => now)).rejects.toMatchObject({
    code: 'service_unavailable',
  });
  const ticket = (await repeated) as IssuedTicket;
  expect(await put(ticket, 'hello')).toBe(200);
  await complete(accountId, ticket.id);
  await expectBalance(service, accountId, { files: 1, bytes: 5 });
});

test('a reservation that meets another writer is charged once, although its lost first request arrives late', async () => {
  await keepFromMidnight(60_000);
  const accountId = await newAccount(service);
  // The bytes of the day have begun. Otherwise the late request would be refused because it begins them.
  await uploadDirectly(service, accountId, 'other');
  const late = Promise.withResolvers<void>();
  const add = (effect: 'conflict' | { lateBy: Promise<void> }) =>
    service.front.faults.add({ match: { operation: 'TransactWriteItems' }, effect, times: 1 });
  const lost = add({ lateBy: late.promise });
  add('conflict');
  const ticket = await newTicket(service, accountId, 5);
  late.resolve();
  await lost.lateAnswers();
  expect(await usageOf(service, accountId)).toEqual({ bytes: 10, files: 1 });
  await put(ticket, 'hello');
  await complete(accountId, ticket.id);
  await sweepLater(service, accountId);
  await expectBalance(service, accountId, { files: 2, bytes: 10 });
});
