import { afterEach, beforeEach, expect, test, vi } from 'vitest';

beforeEach(() => {
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  vi.stubEnv('UPLOADS_BUCKET', 'bucket');
  // Nothing listens there.
  vi.stubEnv('AWS_ENDPOINT_URL', 'http://127.0.0.1:1');
  vi.stubEnv('ACCOUNTS_TABLE', 'accounts');
});
afterEach(() => vi.unstubAllEnvs());

test('the warm-up of the database succeeds without a connection, and leaves later calls alone', async () => {
  const { warmUpDatabase } = await import('../../../shared/aws/warm-up.ts');
  const { accountStore } = await import('../../../shared/aws/account-store.ts');
  await warmUpDatabase();
  await expect(accountStore.get('id')).rejects.toMatchObject({ code: 'service_unavailable' });
});

test('the warm-up of the storage succeeds without a connection, and leaves later calls alone', async () => {
  const { objectStore, warmUpStorage } = await import('../../../shared/aws/object-store.ts');
  await warmUpStorage();
  await expect(objectStore.size('key')).rejects.toMatchObject({ code: 'service_unavailable' });
});
