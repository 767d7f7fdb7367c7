import { storageLimitOf } from '../shared/accounts/account.ts';
import { getAccount } from '../shared/accounts/get-account.ts';
import { accountStore } from '../shared/aws/account-store.ts';
import { limit } from '../shared/env.ts';
import { apiHandler } from '../shared/http/api-handler.ts';
import { ok } from '../shared/http/response.ts';

const defaultStorageLimitBytes = limit('STORAGE_LIMIT_BYTES');

/** GET /auth/me: 200, who is logged in and what they store. */
export const handler = apiHandler('getMe', async ({ caller }) => {
  const account = await getAccount(accountStore, caller.accountId);
  return ok({
    id: account.id,
    email: account.email,
    name: account.name,
    picture_url: account.pictureUrl ?? null,
    created_at: new Date(account.createdAt).toISOString(),
    storage_used_bytes: account.storageUsedBytes,
    storage_limit_bytes: storageLimitOf(account, defaultStorageLimitBytes),
    file_count: account.fileCount,
  });
});
