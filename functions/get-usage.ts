import { getAccount, storageLimitOf } from '../shared/accounts/account.ts';
import { sentTodayBytes, uploadBytesPerDayOf } from '../shared/accounts/allowance.ts';
import { accountStore } from '../shared/aws/account-store.ts';
import { limit } from '../shared/env.ts';
import { ok } from '../shared/http/response.ts';
import { accountLimits } from '../shared/stack/account-limits.ts';
import { apiHandler } from '../shared/stack/api-handler.ts';
import { getUsage as route } from './get-usage.route.ts';

const uploadMaxBytes = limit('MAX_UPLOAD_SIZE_BYTES');

/** GET /usage: 200 with what the account uses and may use. */
export const handler = apiHandler(route, async ({ caller }) => {
  const account = await getAccount(accountStore, caller.accountId);
  return ok({
    storage_used_bytes: account.storageUsedBytes,
    storage_limit_bytes: storageLimitOf(account, accountLimits.storageLimitBytes),
    file_count: account.fileCount,
    file_count_limit: accountLimits.fileCountLimit,
    sent_today_bytes: sentTodayBytes(account, Date.now()),
    sent_today_limit_bytes: uploadBytesPerDayOf(account, accountLimits),
    upload_max_bytes: uploadMaxBytes,
  });
});
