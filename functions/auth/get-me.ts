import { getAccount, storageLimitOf } from '../../shared/accounts/account.ts';
import { accountStore } from '../../shared/aws/account-store.ts';
import { limit } from '../../shared/env.ts';
import { ok } from '../../shared/http/response.ts';
import { apiHandler } from '../../shared/stack/api-handler.ts';
import { getMe as route } from './get-me.route.ts';

const defaultStorageLimitBytes = limit('STORAGE_LIMIT_BYTES');

/** GET /auth/me: 200 with the profile and the storage of the person who is logged in. */
export const handler = apiHandler(route, async ({ caller }) => {
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
