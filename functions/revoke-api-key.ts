import { revokeApiKey } from '../shared/api-keys/api-key.ts';
import { apiKeyStore } from '../shared/aws/api-key-store.ts';
import { ok } from '../shared/http/response.ts';
import { apiHandler } from '../shared/stack/api-handler.ts';

/** DELETE /api-keys/{id}: 200 `{id, deleted}`; 404 when it is absent or not the caller's. It holds from the next request. */
export const handler = apiHandler('revokeApiKey', async ({ caller: { accountId }, param, deadlineAt }) =>
  ok(await revokeApiKey(apiKeyStore, { accountId, id: param('id'), deadlineAt })),
);
