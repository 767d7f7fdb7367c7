import { listApiKeys } from '../shared/api-keys/api-key.ts';
import { apiKeyStore } from '../shared/aws/api-key-store.ts';
import { ok } from '../shared/http/response.ts';
import { apiHandler } from '../shared/stack/api-handler.ts';

/** GET /api-keys: 200 `{items}`, newest first, without their secrets. */
export const handler = apiHandler('listApiKeys', async ({ caller }) =>
  ok(await listApiKeys(apiKeyStore, caller.accountId)),
);
