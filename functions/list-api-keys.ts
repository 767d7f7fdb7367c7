import { listApiKeys } from '../shared/api-keys/list-api-keys.ts';
import { apiKeyStore } from '../shared/aws/api-key-store.ts';
import { apiHandler } from '../shared/http/api-handler.ts';
import { ok } from '../shared/http/response.ts';

/** GET /api-keys: 200 `{items}`, newest first, without their secrets. */
export const handler = apiHandler('listApiKeys', async ({ caller }) =>
  ok(await listApiKeys(apiKeyStore, caller.accountId)),
);
