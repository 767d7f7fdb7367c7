import { revokeApiKey } from '../../shared/api-keys/api-key.ts';
import { apiKeyStore } from '../../shared/aws/api-key-store.ts';
import { ok } from '../../shared/http/response.ts';
import { apiHandler } from '../../shared/stack/api-handler.ts';
import { auditRequest } from '../../shared/stack/route-stack.ts';
import { revokeApiKey as route } from './revoke-api-key.route.ts';

/** DELETE /api-keys/{id}: 200 `{id, deleted}`; 404 when it is absent or not the caller's. The next request with the key is refused. */
export const handler = apiHandler(route, async ({ event, caller: { accountId }, param, deadlineAt }) => {
  const revoked = await revokeApiKey(apiKeyStore, { accountId, id: param('id'), deadlineAt });
  auditRequest(event, 'api_key_revoked', { account_id: accountId, key_id: revoked.id });
  return ok(revoked);
});
