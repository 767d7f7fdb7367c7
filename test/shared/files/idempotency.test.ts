import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { IDEMPOTENCY_TTL_MS } from '../../../shared/contract/limits.ts';
import { cancelTicket } from '../../../shared/files/cancel-ticket.ts';
import { completeUpload } from '../../../shared/files/complete-upload.ts';
import { deleteFile } from '../../../shared/files/delete-file.ts';
import type { FileRef } from '../../../shared/files/file.ts';
import { settleUpload } from '../../../shared/files/settle-upload.ts';
import { askForTicket, chunks, HOUR_MS, inTime, newAccount, put, stage, sweepAt, upload } from './actions.ts';
import { expectBalance, usageOf } from './observe.ts';
import { startService } from './service.ts';

const service = await startService();
const { stores } = service;
const NOW = Date.now();
const LATER = NOW + IDEMPOTENCY_TTL_MS;

let accountId: string;
beforeAll(async () => {
  accountId = await newAccount(service);
});
const newKey = () => ({ idempotencyKey: randomUUID() });
const conflict = { code: 'idempotency_conflict' };

describe('an upload with a used key', () => {
  test('is answered with the first file even when that file is made between the reads of account and record, and takes all room', async () => {
    const owner = await newAccount(service);
    const [key, full] = [newKey(), { storageLimitBytes: 5 }];
    let first: ReturnType<typeof upload> | undefined;
    /** Makes the first file right after the first of the two reads, whichever that is. */
    const readThenMake = async <Read>(read: Promise<Read>): Promise<Read> => {
      const found = await read;
      first ??= upload(service, owner, 'hello', { ...key, ...full });
      await first;
      return found;
    };
    const accounts = {
      ...stores.accounts,
      get: (...args: Parameters<typeof stores.accounts.get>) => readThenMake(stores.accounts.get(...args)),
    };
    const idempotency = {
      ...stores.idempotency,
      get: (...args: Parameters<typeof stores.idempotency.get>) => readThenMake(stores.idempotency.get(...args)),
    };
    const racing = { ...service, stores: { ...stores, accounts, idempotency } };
    const second = await upload(racing, owner, 'hello', { ...key, ...full });
    expect(second).toEqual({ file: (await first)?.file, isReplay: true });
    expect(await usageOf(service, owner)).toMatchObject({ bytes: 5 });
    await expect(upload(service, owner, 'other', { ...key, ...full })).rejects.toMatchObject(conflict);
    const noRoom = { code: 'storage_limit_exceeded' };
    await expect(upload(service, owner, 'hello', { ...newKey(), ...full })).rejects.toMatchObject(noRoom);
  });

  test('is treated as a first upload after exactly 24 hours, however late the row is removed', async () => {
    const key = newKey();
    const { file } = await upload(service, accountId, 'hello', { ...key, clock: () => NOW });
    const before = await upload(service, accountId, 'hello', { ...key, clock: () => LATER - 1_000 });
    expect(before).toEqual({ file, isReplay: true });
    const after = await upload(service, accountId, 'other', { ...key, clock: () => LATER });
    expect(after.isReplay).toBe(false);
  });

  test('is a conflict when its key is the key of a ticket', async () => {
    const key = newKey();
    await askForTicket(service, accountId, 5, key);
    await expect(upload(service, accountId, 'hello', key)).rejects.toMatchObject(conflict);
  });
});

describe('several simultaneous uploads with one key', () => {
  test.each([
    ['there is room for all', 2_000],
    ['there is room for one', 5],
  ])('one becomes a file, and all are answered with it: %s', async (_, storageLimitBytes) => {
    const id = await newAccount(service);
    const options = { ...newKey(), storageLimitBytes };
    const staged = await Promise.all([1, 2, 3].map(() => stage(service, id, chunks('hello'), options)));
    const settled = await Promise.all(staged.map((one) => settleUpload(stores, one, inTime())));
    expect(settled.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
    expect(new Set(settled.map(({ file }) => file.id)).size).toBe(1);
    await expectBalance(service, id, { files: 1, bytes: 5 });
  });

  test('one of several different uploads becomes a file, and the others are conflicts', async () => {
    const id = await newAccount(service);
    const key = newKey();
    const staged = await Promise.all(['one', 'two'].map((content) => stage(service, id, chunks(content), key)));
    const outcomes = await Promise.allSettled(staged.map((one) => settleUpload(stores, one, inTime())));
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: conflict });
    await expectBalance(service, id, { files: 1, bytes: 3 });
  });
});

describe('a ticket with a used key', () => {
  test('is answered with the file that the ticket has become, even if that file has been deleted since', async () => {
    const id = await newAccount(service);
    const key = newKey();
    const first = await askForTicket(service, id, 5, key);
    if (first.kind !== 'ticket') throw new Error('the answer is not a ticket');
    await put(first.ticket, 'hello');
    const file = await completeUpload(stores, { accountId: id, id: first.ticket.id }, inTime());
    expect(await askForTicket(service, id, 5, key)).toEqual({ kind: 'file', file, isReplay: true });
    await deleteFile(stores, file, inTime());
    expect(await askForTicket(service, id, 5, key)).toEqual({ kind: 'file', file, isReplay: true });
    await sweepAt(service, NOW + HOUR_MS, id);
    await expectBalance(service, id, { files: 0, bytes: 0 });
  });

  test.each([
    ['was cancelled', (ref: FileRef) => cancelTicket(stores, ref, inTime())],
    ['has expired', ({ accountId }: FileRef) => sweepAt(service, NOW + HOUR_MS, accountId)],
  ])('is a new ticket each time the earlier one %s', async (_, end) => {
    const id = await newAccount(service);
    const key = newKey();
    const ids = new Set<string>();
    for (let turn = 0; turn < 3; turn++) {
      const answer = await askForTicket(service, id, 5, key);
      if (answer.kind !== 'ticket') throw new Error('the answer is not a ticket');
      expect(answer.isReplay).toBe(false);
      ids.add(answer.ticket.id);
      await end({ accountId: id, id: answer.ticket.id });
    }
    expect(ids.size).toBe(3);
    expect(await usageOf(service, id)).toEqual({ bytes: 0, files: 0 });
  });

  test.each([
    ['size', 6, {}],
    ['name', 5, { name: 'other.bin' }],
    ['checksum', 5, { checksumSha256: 'A'.repeat(43).concat('=') }],
  ])('a ticket with a used key for another %s is a conflict', async (_, size, other) => {
    const id = await newAccount(service);
    const key = newKey();
    await askForTicket(service, id, 5, key);
    await expect(askForTicket(service, id, size, { ...key, ...other })).rejects.toMatchObject(conflict);
    expect(await usageOf(service, id)).toEqual({ bytes: 5, files: 0 });
  });

  test.each([
    ['there is room for all', 2_000],
    ['there is room for one', 5],
  ])('is one ticket when it is requested several times at the same time: %s', async (_, storageLimitBytes) => {
    const id = await newAccount(service);
    const options = { ...newKey(), storageLimitBytes };
    const answers = await Promise.all([1, 2, 3].map(() => askForTicket(service, id, 5, options)));
    const ids = new Set(answers.map((answer) => answer.kind === 'ticket' && answer.ticket.id));
    expect(ids.size).toBe(1);
    expect(await usageOf(service, id)).toEqual({ bytes: 5, files: 0 });
  });

  test('becomes a file even when its key stands for another file by then', async () => {
    const id = await newAccount(service);
    const key = newKey();
    // The ticket is requested, and then renewed in the last minute of the 24 hours of its key.
    const clock = { at: NOW };
    const options = { ...key, clock: () => clock.at };
    await askForTicket(service, id, 5, options);
    clock.at = LATER - 60_000;
    const answer = await askForTicket(service, id, 5, options);
    if (answer.kind !== 'ticket') throw new Error('the answer is not a ticket');
    clock.at = LATER;
    const other = await upload(service, id, 'other', options);
    await stores.objects.put(`incoming/${id}/${answer.ticket.id}`, Buffer.from('hello'), {
      owner: { accountId: id, id: answer.ticket.id },
      mimeType: 'text/plain',
      contentDisposition: 'inline',
    });
    await completeUpload(stores, { accountId: id, id: answer.ticket.id }, inTime(), options.clock);
    expect(await upload(service, id, 'other', options)).toEqual({ file: other.file, isReplay: true });
    await expectBalance(service, id, { files: 2, bytes: 10 });
  });
});
