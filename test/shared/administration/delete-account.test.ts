import { type AttributeValue, paginateScan } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from 'vitest';
import { deleteAccount } from '../../../shared/administration/delete-account.ts';
import { authenticateKey, createApiKey } from '../../../shared/api-keys/api-key.ts';
import { eachOf } from '../../../shared/each-of.ts';
import { settleUpload } from '../../../shared/files/settle-upload.ts';
import { findSession, startSession } from '../../../shared/sessions/session.ts';
import { IS_THOROUGH } from '../../support/thorough.ts';
import {
  askForTicket,
  chunks,
  HOUR_MS,
  inTime,
  newAccount,
  newTicket,
  put,
  stage,
  sweepAt,
  upload,
} from '../files/actions.ts';
import { faultsOfProduct, TRIED, triedAt } from '../files/faults.ts';
import { expectBalance, keysInBucket, strayKeys } from '../files/observe.ts';
import { startService } from '../files/service.ts';

const service = await startService();
const { apiKeyStore: keys, apiKeyCredentials } = await import('../../../shared/aws/api-key-store.ts');
const { sessionStore: sessions } = await import('../../../shared/aws/session-store.ts');
const { administrationStore: administration, keyMarkStore: keyMarks } = await import(
  '../../../shared/aws/administration-store.ts'
);
const applyFault = await faultsOfProduct();
const stores = { ...service.stores, administration, keyMarks, keys, sessions };

const remove = (id: string) => deleteAccount(stores, id, inTime());

/** Creates an account with one of everything an account can own. */
async function newPerson() {
  const id = await newAccount(service);
  const { key } = await createApiKey(keys, { accountId: id, name: 'ci', kind: 'test', ...inTime() });
  const token = await startSession(sessions, { accountId: id, userAgent: '' });
  await upload(service, id, 'hello', { idempotencyKey: 'mine' });
  await put(await newTicket(service, id, 5, { idempotencyKey: 'ticket' }), 'hello');
  return { id, key, token };
}

/** Every row of every table that names one of these accounts. */
async function rowsNaming(...ids: string[]): Promise<Record<string, AttributeValue>[]> {
  const rows: Record<string, AttributeValue>[] = [];
  for (const TableName of Object.values(service.tables)) {
    for await (const { Items = [] } of paginateScan({ client: service.engine }, { TableName })) {
      rows.push(...Items.filter((item) => ids.some((id) => JSON.stringify(item).includes(id))));
    }
  }
  return rows;
}

/** Runs the sweeper at a time when all its work is due. It runs twice, because the leases of a sweeper that died last for a while. */
async function sweepTwice(...ids: string[]): Promise<void> {
  for (const hours of [2, 3]) await sweepAt(service, Date.now() + hours * HOUR_MS, ...ids);
}

test('nothing of a deleted account is left after the sweeper has run, and other accounts lose nothing', async () => {
  const other = await newAccount(service);
  const { file } = await upload(service, other, 'theirs');
  const { key } = await createApiKey(keys, { accountId: other, name: 'ci', kind: 'test', ...inTime() });
  const person = await newPerson();
  expect(await remove(person.id)).toEqual({ files: 1, leftToSweeper: 1 });
  expect(await authenticateKey(apiKeyCredentials, person.key)).toBeUndefined();
  expect(await findSession(sessions, person.token)).toBeUndefined();
  await sweepTwice(person.id);
  expect(await rowsNaming(person.id)).toEqual([]);
  expect(await keysInBucket(service)).toEqual([file.objectKey]);
  expect(await authenticateKey(apiKeyCredentials, key)).toMatchObject({ accountId: other });
  await expectBalance(service, other, { files: 1, bytes: 6 });
});

test('the deletion of an unknown account is not_found and creates no account', async () => {
  const id = crypto.randomUUID();
  await expect(remove(id)).rejects.toMatchObject({ code: 'not_found' });
  expect(await rowsNaming(id)).toEqual([]);
});

test('a late call of a deletion takes nothing from the new account of the same person', async () => {
  const person = await newPerson();
  const { calls } = await applyFault('dies before', Number.POSITIVE_INFINITY, () => remove(person.id));
  const nths = Array.from({ length: calls }, (_, index) => index + 1).filter((nth) => IS_THOROUGH || nth % 4 === 0);
  const ids = await eachOf(nths, 8, async (nth) => {
    const { id } = await newPerson();
    const { happenLate } = await applyFault('happens again late', nth, () => remove(id));
    await service.stores.accounts.upsert({ id, email: 'a@example.com', name: 'A' }, Date.now());
    await upload(service, id, 'again', { idempotencyKey: 'again' });
    await happenLate();
    return id;
  });
  await sweepTwice(...ids);
  for (const id of ids) await expectBalance(service, id, { files: 1, bytes: 5 });
  for (const id of ids) await remove(id);
});

describe('nothing is added to an account while it is deleted:', () => {
  /** The stores, except that `work` runs after the deletion has listed the rows, and before it removes them. */
  const during = (work: () => Promise<unknown>) => ({
    ...stores,
    administration: {
      ...administration,
      removeRecords: async (id: string) => {
        await work();
        return administration.removeRecords(id);
      },
    },
  });

  test.each([
    ['a login', (id: string) => startSession(sessions, { accountId: id, userAgent: '' })],
    ['a key', (id: string) => createApiKey(keys, { accountId: id, name: 'ci', kind: 'test' as const, ...inTime() })],
    ['a ticket', (id: string) => askForTicket(service, id, 0, { idempotencyKey: 'late' })],
    ['an upload', (id: string) => upload(service, id, '', { idempotencyKey: 'late' })],
  ])('%s is refused', async (_, work) => {
    const { id } = await newPerson();
    const late = during(() => expect(work(id)).rejects.toMatchObject({ code: 'unauthorized' }));
    await deleteAccount(late, id, inTime());
    await sweepTwice(id);
    expect(await rowsNaming(id)).toEqual([]);
  });

  test('an upload that is settled after its account is gone leaves nothing', async () => {
    const id = await newAccount(service);
    const staged = await stage(service, id, chunks('hello'));
    await remove(id);
    await expect(settleUpload(service.stores, staged, inTime())).rejects.toMatchObject({ code: 'unauthorized' });
    await sweepTwice(id);
    expect((await rowsNaming(id)).filter(({ state }) => state)).toEqual([]);
    expect(await strayKeys(service, id)).toEqual([]);
  });
});

/** A deletion with a late call has its own test above. */
const ENDING = TRIED.filter((fault) => fault !== 'happens again late');

test.each(ENDING)('a deletion that %s at any call is finished by the next one', async (fault) => {
  const { calls } = await applyFault('dies before', Number.POSITIVE_INFINITY, async () =>
    remove((await newPerson()).id),
  );
  const preparing = (await applyFault('dies before', Number.POSITIVE_INFINITY, newPerson)).calls;
  const nths = Array.from({ length: calls - preparing }, (_, index) => index + 1);
  expect(nths.length).toBeGreaterThan(20);
  const tried = nths.filter((nth) => triedAt(nth).includes(fault));
  // No more than eight at once: each makes a dozen requests, and on a busy engine even calls without a fault would fail.
  const ids = await eachOf(tried, 8, async (nth) => {
    const { id } = await newPerson();
    const { end, happenLate } = await applyFault(fault, nth, () => remove(id));
    // The account is gone before this second run only if the first run succeeded, or its fault was at the last call.
    await remove(id).catch((error) => {
      if (error.code !== 'not_found' || (end !== 'success' && nth < nths.length)) throw error;
    });
    await happenLate();
    return id;
  });
  await sweepTwice(...ids);
  expect(await rowsNaming(...ids)).toEqual([]);
  expect(await strayKeys(service, ...ids)).toEqual([]);
});
