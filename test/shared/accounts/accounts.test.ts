import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { getAccount, upsertAccountAtLogin } from '../../../shared/accounts/account.ts';
import { upload } from '../files/actions.ts';
import { startService } from '../files/service.ts';

const service = await startService();
const { accounts } = service.stores;
const profile = () => ({
  id: randomUUID(),
  email: 'a@example.com',
  name: 'A',
  pictureUrl: 'https://example.com/a.png',
});

describe('a login', () => {
  test('updates the profile, and nothing else', async () => {
    const someone = profile();
    await upsertAccountAtLogin(accounts, someone, () => 1_000);
    await upload(service, someone.id, 'hello', { clock: () => 1_000 });
    const { pictureUrl: _, ...renewed } = { ...someone, email: 'b@example.com', name: 'B' };
    expect(await upsertAccountAtLogin(accounts, renewed, () => 2_000)).toEqual({
      ...renewed,
      createdAt: 1_000,
      storageUsedBytes: 5,
      fileCount: 1,
      sent: { day: 0, bytes: 5 },
      nextSeq: 1,
      lastFileAt: 1_000,
      removed: new Map(),
      isSuspended: false,
    });
  });

  test('makes one account when it happens twice at the same time', async () => {
    const someone = profile();
    const both = await Promise.all([1_000, 2_000].map((now) => upsertAccountAtLogin(accounts, someone, () => now)));
    expect(new Set(both.map(({ createdAt }) => createdAt)).size).toBe(1);
  });

  test('waits for the transaction of an upload', async () => {
    const someone = profile();
    const fault = { match: { operation: 'UpdateItem' }, effect: 'conflict', times: 3 } as const;
    service.front.faults.add(fault);
    expect(await upsertAccountAtLogin(accounts, someone)).toMatchObject(someone);
  });
});

test('an account that is gone has no valid credentials', async () => {
  await expect(getAccount(accounts, randomUUID())).rejects.toMatchObject({ code: 'unauthorized' });
});
