import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { upsertAccountAtLogin } from '../../../shared/accounts/account.ts';
import { countDiscardedBytes } from '../../../shared/accounts/allowance.ts';
import { auditAccount } from '../../../shared/administration/audit-account.ts';
import { cancelTicket } from '../../../shared/files/cancel-ticket.ts';
import { completeUpload } from '../../../shared/files/complete-upload.ts';
import { deleteFile } from '../../../shared/files/delete-file.ts';
import { settleUpload } from '../../../shared/files/settle-upload.ts';
import { broken, chunks, inTime, MIB, newAccount, newTicket, put, stage, upload } from '../files/actions.ts';
import { expectBalance } from '../files/observe.ts';
import { startService } from '../files/service.ts';

const service = await startService({ hasTimeLimits: true });
const { stores } = service;

const DAY_MS = 24 * 3_600_000;
/** A UTC day, moments of it, and a moment of the next day. */
const TODAY = 30_000;
const noon = TODAY * DAY_MS + DAY_MS / 2;
const lastSecond = (TODAY + 1) * DAY_MS - 1_000;
const tomorrow = noon + DAY_MS;
const at = (now: number) => ({ clock: () => now });
const TEN_A_DAY = { uploadBytesPerDay: 10 };

const sentOf = async (accountId: string) => (await stores.accounts.get(accountId))?.sent;

/** Content that must not be read. */
const untouched = () => broken('x', new Error('the content was read'));

describe('the bytes of a day', () => {
  test('start again on the next UTC day, and a refusal says in how many seconds', async () => {
    const accountId = await newAccount(service);
    await upload(service, accountId, 'x'.repeat(10), { ...TEN_A_DAY, ...at(noon) });
    await expect(upload(service, accountId, 'x', { ...TEN_A_DAY, ...at(noon) })).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
      headers: { 'Retry-After': '43200' },
    });
    await expect(upload(service, accountId, 'x', { ...TEN_A_DAY, ...at(lastSecond) })).rejects.toMatchObject({
      headers: { 'Retry-After': '1' },
    });
    await upload(service, accountId, 'x'.repeat(10), { ...TEN_A_DAY, ...at(tomorrow) });
    expect(await sentOf(accountId)).toEqual({ day: TODAY + 1, bytes: 10 });
    await expectBalance(service, accountId, { files: 2, bytes: 20 });
  });

  test('are not the reported reason when the file is larger than the account’s whole storage', async () => {
    const accountId = await newAccount(service);
    const small = { storageLimitBytes: 5, uploadBytesPerDay: 5 };
    await expect(upload(service, accountId, 'x'.repeat(6), small)).rejects.toMatchObject({
      code: 'storage_limit_exceeded',
    });
  });

  test('are those of the day on which the upload ends', async () => {
    const accountId = await newAccount(service);
    await upload(service, accountId, 'x'.repeat(6), { ...TEN_A_DAY, ...at(noon) });
    const staged = await stage(service, accountId, chunks('x'.repeat(4)), { ...TEN_A_DAY, ...at(lastSecond) });
    await upload(service, accountId, 'x'.repeat(6), { ...TEN_A_DAY, ...at(tomorrow) });
    await settleUpload(stores, staged, inTime(), () => tomorrow);
    expect(await sentOf(accountId)).toEqual({ day: TODAY + 1, bytes: 10 });
  });

  test.each([
    ['another upload has begun the day since', noon, 6, 4, true],
    ['another upload has begun the day since, and left too little of it', noon, 7, 4, false],
    ['a server whose clock is ahead has begun the next day', tomorrow, 6, 4, true],
    ['a server whose clock is ahead has begun the next day, and left too little of it', tomorrow, 7, 4, false],
  ])('are checked again when the upload is settled: %s', async (_, otherNow, otherBytes, ownBytes, fits) => {
    const accountId = await newAccount(service);
    const staged = await stage(service, accountId, chunks('x'.repeat(ownBytes)), { ...TEN_A_DAY, ...at(noon) });
    await upload(service, accountId, 'x'.repeat(otherBytes), { ...TEN_A_DAY, ...at(otherNow) });
    const settling = settleUpload(stores, staged, inTime(), () => noon);
    if (fits) await settling;
    else await expect(settling).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    const bytes = otherBytes + (fits ? ownBytes : 0);
    expect((await sentOf(accountId))?.bytes).toBe(bytes);
    await expectBalance(service, accountId, { files: fits ? 2 : 1, bytes });
  });

  test('do not admit an upload that alone is larger than a whole day allows', async () => {
    const accountId = await newAccount(service);
    const staged = await stage(service, accountId, chunks('x'.repeat(11)), at(noon));
    if (staged.kind !== 'stored') throw new Error('the content was not stored');
    const { limits, known } = staged.allowance;
    const strict = { ...staged, allowance: { limits: { ...limits, ...TEN_A_DAY }, known } };
    await expect(settleUpload(stores, strict, inTime())).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    await expectBalance(service, accountId, { files: 0, bytes: 0 });
  });

  test('are enough to fill the storage limit that the operator set for an account', async () => {
    const accountId = await newAccount(service, { ownLimitBytes: 20 });
    await upload(service, accountId, 'x'.repeat(20), { ...TEN_A_DAY, ...at(noon) });
    const more = upload(service, accountId, 'x', { ...TEN_A_DAY, ...at(noon) });
    await expect(more).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  });

  test('are not given back by a deletion or a cancelled ticket, nor changed by a login, an audit or a repair', async () => {
    const accountId = await newAccount(service);
    const { file } = await upload(service, accountId, 'x'.repeat(5), at(noon));
    await deleteFile(stores, file, inTime());
    const { id } = await newTicket(service, accountId, 4, at(noon));
    await cancelTicket(stores, { accountId, id }, inTime());
    await upsertAccountAtLogin(stores.accounts, { id: accountId, email: 'again@example.com', name: 'Again' });
    const { recorded, computed } = await auditAccount(stores, accountId);
    expect(await stores.audit.rewrite(accountId, recorded, computed, inTime())).toBe(true);
    expect(await sentOf(accountId)).toEqual({ day: TODAY, bytes: 9 });
  });

  test('include a ticket when it is issued, and not again when it becomes a file', async () => {
    const accountId = await newAccount(service);
    const now = Date.now();
    const ticket = await newTicket(service, accountId, 5, { ...TEN_A_DAY, ...at(now) });
    await put(ticket, 'hello');
    await completeUpload(stores, { accountId, id: ticket.id }, inTime());
    expect((await sentOf(accountId))?.bytes).toBe(5);
    const asking = newTicket(service, accountId, 6, { ...TEN_A_DAY, ...at(now) });
    await expect(asking).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  });
});

describe('a body that cannot fit is refused before its content is stored', () => {
  test.each([
    ['the storage', { storageLimitBytes: 10 }, 'storage_limit_exceeded'],
    ['the bytes of the day', { uploadBytesPerDay: 10 }, 'rate_limit_exceeded'],
    ['the file count', { fileCountLimit: 1 }, 'storage_limit_exceeded'],
  ])('because of %s', async (_, limits, code) => {
    const accountId = await newAccount(service);
    await upload(service, accountId, 'x');
    const mark = service.front.meter.mark();
    const hopeless = stage(service, accountId, chunks('x'.repeat(10)), limits);
    await expect(hopeless).rejects.toMatchObject({ code });
    expect(service.front.meter.since(mark).calls.map(({ operation }) => operation)).toEqual(['GetItem']);
    await expectBalance(service, accountId, { files: 1, bytes: 1 });
  });

  test('a repeated upload with a used key is still read, until twice the bytes of the day were sent', async () => {
    const accountId = await newAccount(service);
    const content = randomBytes(10);
    const options = { ...TEN_A_DAY, storageLimitBytes: 10, idempotencyKey: 'k', ...at(noon) };
    const { file } = await upload(service, accountId, content, options);
    await stores.accounts.countSent(accountId, 10, noon);
    expect(await upload(service, accountId, content, options)).toEqual({ file, isReplay: true });
    await stores.accounts.countSent(accountId, 1, noon);
    const repeated = stage(service, accountId, untouched(), options);
    await expect(repeated).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  });
});

describe('bytes that were sent but did not become a file', () => {
  test('are added to the day, or begin it, even if a server whose clock is ahead has begun the next day', async () => {
    const accountId = await newAccount(service);
    await countDiscardedBytes(stores.accounts, accountId, MIB, () => noon);
    await countDiscardedBytes(stores.accounts, accountId, MIB, () => lastSecond);
    expect(await sentOf(accountId)).toEqual({ day: TODAY, bytes: 2 * MIB });
    await countDiscardedBytes(stores.accounts, accountId, MIB, () => tomorrow);
    await countDiscardedBytes(stores.accounts, accountId, MIB, () => noon);
    expect(await sentOf(accountId)).toEqual({ day: TODAY + 1, bytes: 2 * MIB });
  });

  test('are all counted when several requests begin a day at the same time', async () => {
    const accountId = await newAccount(service);
    await Promise.all([1, 2, 3, 4].map(() => countDiscardedBytes(stores.accounts, accountId, MIB, () => noon)));
    expect(await sentOf(accountId)).toEqual({ day: TODAY, bytes: 4 * MIB });
  });

  test.each([
    ['counted once when a write that happened is answered by an error', 'error-after', 1],
    ['counted once when a write that happened gets no answer', 'cut-after', 1],
    ['not counted when a write that did not happen is answered by an error', 'error-before', 0],
    ['not counted when a write that did not happen gets no answer', 'timeout', 0],
  ] as const)('are %s', async (_name, effect, times) => {
    const accountId = await newAccount(service);
    await countDiscardedBytes(stores.accounts, accountId, MIB, () => noon);
    const fault = service.front.faults.add({ match: { operation: 'UpdateItem' }, effect });
    await countDiscardedBytes(stores.accounts, accountId, MIB, () => noon);
    fault.remove();
    expect(fault.hits).toBe(1);
    expect(await sentOf(accountId)).toEqual({ day: TODAY, bytes: (1 + times) * MIB });
  });

  test('wait for the transaction of an upload', async () => {
    const accountId = await newAccount(service);
    await countDiscardedBytes(stores.accounts, accountId, MIB, () => noon);
    service.front.faults.add({ match: { operation: 'UpdateItem' }, effect: 'conflict', times: 2 });
    await countDiscardedBytes(stores.accounts, accountId, MIB, () => noon);
    expect(await sentOf(accountId)).toEqual({ day: TODAY, bytes: 2 * MIB });
  });

  test('do not bring back an account that is gone', async () => {
    const gone = '00000000-0000-4000-8000-000000000000';
    await stores.accounts.countSent(gone, MIB, noon);
    expect(await stores.accounts.get(gone)).toBeUndefined();
  });
});
